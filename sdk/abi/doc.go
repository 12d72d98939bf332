// Package abi is the wire format between the controller and WebAssembly
// policies, version 1: batches of fixed-size records in little-endian order,
// behind a 128-byte header, in a buffer that the guest owns.
//
// Host and guest share this package and nothing else. It imports the standard
// library only, decodes without allocating, and checks every offset before it
// uses it: neither side trusts the bytes of the other.
//
// A record only ever grows at its end, and its size is declared in the header
// as the stride: a reader steps by the stride and ignores a tail it does not
// know.
//
// Not here: what the numbers mean to the controller (controller/policy/wire),
// the WebAssembly host (controller/policy/wasm) and the guest's comfort
// (sdk/policy).
package abi

//go:generate go run ./gen

// Names that a module exports or imports.
const (
	ExportMemory      = "memory"
	ExportVersion     = "spokeshave_abi_v1"
	ExportAlloc       = "spokeshave_alloc"
	ExportConfigure   = "spokeshave_configure"
	ExportRank        = "spokeshave_rank"
	ExportConsolidate = "spokeshave_consolidate"
	ExportCeiling     = "spokeshave_ceiling"
	ExportInitialize  = "_initialize"
	ExportStart       = "_start"

	ImportModule = "spokeshave_v1"
	ImportLog    = "log"
)

// Minor is the highest minor version described here. The major version is in
// the name of the export ExportVersion.
const Minor = 0

// Status is what an exported hook returns.
type Status int32

// The statuses. Everything else is a fault.
const (
	// Answered: the out rows hold the answer.
	Answered Status = 0
	// NoOpinion leaves the question to other policies.
	NoOpinion Status = 1
	// Refused: the guest does not understand the input.
	Refused Status = 2
	// Failed is an internal error; the first message says what happened.
	Failed Status = 3
)

// Hook numbers a question.
type Hook uint16

// The hooks; the bit 1<<Hook stands for a hook in Setup.Hooks.
const (
	HookRank        Hook = 1
	HookConsolidate Hook = 2
	HookCeiling     Hook = 3
)
