package abi

import (
	"encoding/binary"
	"math"
)

// Sizes in bytes of the records of the rank hook.
const (
	PoolStride    = 48
	RankStride    = 96
	RankOutStride = 24
)

// Capacity types.
const (
	CapacityUnknown  = 0
	CapacityOnDemand = 1
	CapacitySpot     = 2
	CapacityReserved = 3
)

// Architectures.
const (
	ArchUnknown = 0
	ArchAMD64   = 1
	ArchARM64   = 2
)

// Flags of a RankOut.
const (
	// RankExclude drops the offering.
	RankExclude = 1
	// RankShared makes the group of a RankOut one for all NodePools, in place
	// of one for each.
	RankShared = 2
)

// PoolRow is the NodePool that a rank batch is about. Like every record here
// its fields have the order and alignment of the wire, so that a guest on a
// little-endian machine may read it in place.
type PoolRow struct {
	PendingCPU       float64 // vCPU
	PendingMemoryGiB float64
	Name             uint32
	LabelsFirst      uint32
	LabelsCount      uint32
	PendingPods      uint32
	RunningNodes     uint32
	SpotNodes        uint32  // of RunningNodes
	ClusterOnDemand  float64 // on-demand price of all on-demand nodes, USD/hour
}

// RankRow is one offering. Prices are in USD per hour, Interruption is the
// share of spot instances interrupted per month; Zone, Family and Type are
// string ids. Running counts the NodePool's nodes of the offering,
// RunningCluster those of all NodePools; FamilyOnDemand is the on-demand price
// of all on-demand nodes of the family.
type RankRow struct {
	Billed       float64
	Cost         float64
	OnDemand     float64
	VCPU         float64
	MemoryGiB    float64
	Interruption float64
	PodsFit      uint32
	GPUs         uint32
	Zone         uint32
	Family       uint32
	Type         uint32
	Running      uint32
	CapacityType uint8
	Arch         uint8
	Flags        uint8
	_            [5]uint8

	FamilyOnDemand float64
	RunningCluster uint32
	_              uint32
}

// RankOut is the answer for one offering. Score is in USD per hour, Reason a
// message (0 is none). Offerings with the same Group, if it is not 0, use up
// their MaxNodes together: each node takes 1/MaxNodes of it. The host presets
// Score to the cost so far.
type RankOut struct {
	Score    float64
	MaxNodes uint32
	Flags    uint32
	Reason   uint32
	Group    uint32
}

// Put writes the row to b, which must have PoolStride bytes.
func (r *PoolRow) Put(b []byte) {
	b = b[:PoolStride]
	le := binary.LittleEndian
	putFloat(b[0:], r.PendingCPU)
	putFloat(b[8:], r.PendingMemoryGiB)
	le.PutUint32(b[16:], r.Name)
	le.PutUint32(b[20:], r.LabelsFirst)
	le.PutUint32(b[24:], r.LabelsCount)
	le.PutUint32(b[28:], r.PendingPods)
	le.PutUint32(b[32:], r.RunningNodes)
	le.PutUint32(b[36:], r.SpotNodes)
	putFloat(b[40:], r.ClusterOnDemand)
}

// Get reads the row from b, which must have PoolStride bytes.
func (r *PoolRow) Get(b []byte) {
	b = b[:PoolStride]
	le := binary.LittleEndian
	r.PendingCPU = float(b[0:])
	r.PendingMemoryGiB = float(b[8:])
	r.Name = le.Uint32(b[16:])
	r.LabelsFirst = le.Uint32(b[20:])
	r.LabelsCount = le.Uint32(b[24:])
	r.PendingPods = le.Uint32(b[28:])
	r.RunningNodes = le.Uint32(b[32:])
	r.SpotNodes = le.Uint32(b[36:])
	r.ClusterOnDemand = float(b[40:])
}

// Put writes the row to b, which must have RankStride bytes.
func (r *RankRow) Put(b []byte) {
	b = b[:RankStride]
	le := binary.LittleEndian
	putFloat(b[0:], r.Billed)
	putFloat(b[8:], r.Cost)
	putFloat(b[16:], r.OnDemand)
	putFloat(b[24:], r.VCPU)
	putFloat(b[32:], r.MemoryGiB)
	putFloat(b[40:], r.Interruption)
	le.PutUint32(b[48:], r.PodsFit)
	le.PutUint32(b[52:], r.GPUs)
	le.PutUint32(b[56:], r.Zone)
	le.PutUint32(b[60:], r.Family)
	le.PutUint32(b[64:], r.Type)
	le.PutUint32(b[68:], r.Running)
	b[72], b[73], b[74], b[75] = r.CapacityType, r.Arch, r.Flags, 0
	le.PutUint32(b[76:], 0)
	putFloat(b[80:], r.FamilyOnDemand)
	le.PutUint32(b[88:], r.RunningCluster)
	le.PutUint32(b[92:], 0)
}

// Get reads the row from b, which must have RankStride bytes.
func (r *RankRow) Get(b []byte) {
	b = b[:RankStride]
	le := binary.LittleEndian
	r.Billed = float(b[0:])
	r.Cost = float(b[8:])
	r.OnDemand = float(b[16:])
	r.VCPU = float(b[24:])
	r.MemoryGiB = float(b[32:])
	r.Interruption = float(b[40:])
	r.PodsFit = le.Uint32(b[48:])
	r.GPUs = le.Uint32(b[52:])
	r.Zone = le.Uint32(b[56:])
	r.Family = le.Uint32(b[60:])
	r.Type = le.Uint32(b[64:])
	r.Running = le.Uint32(b[68:])
	r.CapacityType, r.Arch, r.Flags = b[72], b[73], b[74]
	r.FamilyOnDemand = float(b[80:])
	r.RunningCluster = le.Uint32(b[88:])
}

// Put writes the answer to b, which must have RankOutStride bytes.
func (r *RankOut) Put(b []byte) {
	b = b[:RankOutStride]
	le := binary.LittleEndian
	putFloat(b[0:], r.Score)
	le.PutUint32(b[8:], r.MaxNodes)
	le.PutUint32(b[12:], r.Flags)
	le.PutUint32(b[16:], r.Reason)
	le.PutUint32(b[20:], r.Group)
}

// Get reads the answer from b, which must have RankOutStride bytes.
func (r *RankOut) Get(b []byte) {
	b = b[:RankOutStride]
	le := binary.LittleEndian
	r.Score = float(b[0:])
	r.MaxNodes = le.Uint32(b[8:])
	r.Flags = le.Uint32(b[12:])
	r.Reason = le.Uint32(b[16:])
	r.Group = le.Uint32(b[20:])
}

func putFloat(b []byte, f float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(f)) }

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
