// Package wasm runs policies that are WebAssembly modules, on wazero.
//
// A module is hostile until shown otherwise. Before it compiles it is bounded
// and rewritten (controller/policy/wasm/meter); it may import a handful of
// functions and nothing else; every call has fuel, a call depth, a memory
// limit and a wall deadline; whatever it returns is checked by
// controller/policy/wire. Time and randomness are the decision's, there are no
// files, network or environment. After a fault the instance is thrown away, and
// a policy that keeps failing is switched off for a while.
//
// No lock is held while a guest runs.
//
// Not here: the wire format (sdk/abi) and where modules come from
// (controller/policy/load).
package wasm
