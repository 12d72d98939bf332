//go:build !(armbe || arm64be || m68k || mips || mips64 || mips64p32 || ppc || ppc64 || s390 || s390x || sparc || sparc64)

package wire

import (
	"unsafe"

	"spokeshave.dev/sdk/abi"
)

// The records of sdk/abi have the order and alignment of the wire, so that a
// little-endian machine can write and read them where they are, which saves a
// third of the time of encoding and decoding a rank batch. There is no other way on other machines,
// and so no controller for them.

// rankRow is record i of the rows of a rank batch, in place.
func rankRow(rows []byte, i int) *abi.RankRow {
	return (*abi.RankRow)(unsafe.Pointer(unsafe.SliceData(rows[i*abi.RankStride:][:abi.RankStride])))
}

// clearGaps clears what lies between the fields of a record.
func clearGaps(row *abi.RankRow) {
	b := (*[abi.RankStride]byte)(unsafe.Pointer(row))
	clear(b[unsafe.Offsetof(row.Flags)+1 : unsafe.Offsetof(row.FamilyOnDemand)])
	clear(b[unsafe.Offsetof(row.RunningCluster)+4:])
}

// rankOut is record i of the answers of a rank batch, in place.
func rankOut(outs []byte, i int) *abi.RankOut {
	return (*abi.RankOut)(unsafe.Pointer(unsafe.SliceData(outs[i*abi.RankOutStride:][:abi.RankOutStride])))
}
