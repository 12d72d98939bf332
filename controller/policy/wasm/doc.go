// Package wasm runs policies that are WebAssembly modules, with wazero.
//
// It treats every module as hostile. Before compilation a module is limited in size
// and rewritten (controller/policy/wasm/meter), and it may import only a few
// functions. Every call has limits on fuel, call depth, memory and wall time.
// Package controller/policy/wire checks everything that a module returns. Time and
// randomness are the decision's; there are no files, network or environment. After a
// fault the instance is discarded, and a policy that fails repeatedly is not called
// for a while.
//
// Metering and compiling may be done in another process (Work); the compiled code is then
// loaded from what that process writes.
//
// No lock is held while a guest runs.
//
// The wire format is in sdk/abi. Package controller/policy/load provides the
// modules.
package wasm
