//go:build wasip1

package policy

import (
	"unsafe"

	"spokeshave.dev/sdk/abi"
)

// maxBatch is the largest buffer handed out.
const maxBatch = 12 << 20

// buffer is where the host writes; the collector does not move it.
var buffer []byte //nolint:gochecknoglobals // the host writes into it between calls

//go:wasmexport spokeshave_abi_v1
func exportVersion() int32 { return abi.Minor }

//go:wasmexport spokeshave_alloc
func exportAlloc(size uint32) uint32 {
	if size > maxBatch {
		return 0
	}
	if uint32(len(buffer)) < size {
		raw := make([]byte, size+size/4+abi.Align)
		skip := -uintptr(unsafe.Pointer(&raw[0])) % abi.Align
		buffer = raw[skip:]
	}
	if len(buffer) == 0 {
		return 0
	}
	return uint32(uintptr(unsafe.Pointer(&buffer[0])))
}

// received is what the host has written, nil if it points elsewhere.
func received(ptr, size uint32) []byte {
	if len(buffer) == 0 || ptr != uint32(uintptr(unsafe.Pointer(&buffer[0]))) || size > uint32(len(buffer)) {
		return nil
	}
	return buffer[:size:size]
}

//go:wasmexport spokeshave_configure
func exportConfigure(ptr, size uint32) int32 {
	block := received(ptr, size)
	var setup abi.Setup
	if err := setup.Parse(block); err != nil {
		return int32(abi.Refused)
	}
	config := block[setup.Config.Offset:][:setup.Config.Size]
	if err := Setup(setup.Hooks, config); err != nil {
		messages := abi.Messages(block[setup.Message.Offset:][:setup.Message.Size])
		messages.Reset()
		messages.Append(err.Error())
		return int32(abi.Refused)
	}
	return int32(abi.Answered)
}

//go:wasmexport spokeshave_rank
func exportRank(ptr, size uint32) int32 { return int32(Handle(received(ptr, size))) }

//go:wasmexport spokeshave_consolidate
func exportConsolidate(ptr, size uint32) int32 { return int32(Handle(received(ptr, size))) }

//go:wasmexport spokeshave_ceiling
func exportCeiling(ptr, size uint32) int32 { return int32(Handle(received(ptr, size))) }
