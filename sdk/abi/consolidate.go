package abi

import "encoding/binary"

// Sizes in bytes of the records of the consolidate hook.
const (
	CandidateStride      = 128
	ConsolidateOutStride = 24
)

// Why a candidate is considered.
const (
	MethodUnknown       = 0
	MethodEmpty         = 1
	MethodUnderutilized = 2
	MethodDrifted       = 3
	MethodExpired       = 4
)

// What would happen to a candidate.
const (
	ActionUnknown = 0
	ActionDelete  = 1
	ActionReplace = 2
)

// Verdicts of a ConsolidateOut. The host presets VerdictDeny: a guest that
// forgets a row protects the node.
const (
	VerdictAllow = 0
	VerdictDeny  = 1
	VerdictHold  = 2
)

// CandidateRow is a node that could be disrupted. Prices are in USD per hour;
// Node, Claim, Pool, Type and Zone are string ids. JobPods are the node's pods
// that belong to a Job. SinceDisruption is the time since a node of the
// NodePool last began to go, -1 if none did within the hour; PoolEvictions and
// ClusterEvictions count the pods that such nodes had within the hour. MoveCost is
// what the moves of the node's pods have to save.
type CandidateRow struct {
	Price             float64
	Savings           float64
	AgeSeconds        float64
	IdleSeconds       float64
	CPUUtilisation    float64 // requests / allocatable
	MemoryUtilisation float64 // requests / allocatable
	Cost              float64 // disruption cost so far
	Node              uint32
	Claim             uint32
	Pool              uint32
	Type              uint32
	Zone              uint32
	Pods              uint32
	LabelsFirst       uint32
	LabelsCount       uint32
	PoolLabelsFirst   uint32
	PoolLabelsCount   uint32
	Method            uint8
	Action            uint8
	CapacityType      uint8
	Flags             uint8
	JobPods           uint32
	SinceDisruption   float64 // seconds
	PoolEvictions     uint32
	ClusterEvictions  uint32
	MoveCost          float64
}

// ConsolidateOut is the answer for one candidate. HoldSeconds counts from the
// decision's time, Cost is added to the disruption cost.
type ConsolidateOut struct {
	HoldSeconds float64
	Cost        float64
	Verdict     uint32
	Reason      uint32
}

// Put writes the row to b, which must have CandidateStride bytes.
func (r *CandidateRow) Put(b []byte) {
	b = b[:CandidateStride]
	for i, f := range [...]float64{r.Price, r.Savings, r.AgeSeconds, r.IdleSeconds, r.CPUUtilisation, r.MemoryUtilisation, r.Cost} {
		putFloat(b[8*i:], f)
	}
	for i, n := range [...]uint32{
		r.Node, r.Claim, r.Pool, r.Type, r.Zone, r.Pods,
		r.LabelsFirst, r.LabelsCount, r.PoolLabelsFirst, r.PoolLabelsCount,
	} {
		binary.LittleEndian.PutUint32(b[56+4*i:], n)
	}
	b[96], b[97], b[98], b[99] = r.Method, r.Action, r.CapacityType, r.Flags
	binary.LittleEndian.PutUint32(b[100:], r.JobPods)
	putFloat(b[104:], r.SinceDisruption)
	binary.LittleEndian.PutUint32(b[112:], r.PoolEvictions)
	binary.LittleEndian.PutUint32(b[116:], r.ClusterEvictions)
	putFloat(b[120:], r.MoveCost)
}

// Get reads the row from b, which must have CandidateStride bytes.
func (r *CandidateRow) Get(b []byte) {
	b = b[:CandidateStride]
	for i, f := range [...]*float64{&r.Price, &r.Savings, &r.AgeSeconds, &r.IdleSeconds, &r.CPUUtilisation, &r.MemoryUtilisation, &r.Cost} {
		*f = float(b[8*i:])
	}
	for i, n := range [...]*uint32{
		&r.Node, &r.Claim, &r.Pool, &r.Type, &r.Zone, &r.Pods,
		&r.LabelsFirst, &r.LabelsCount, &r.PoolLabelsFirst, &r.PoolLabelsCount,
	} {
		*n = binary.LittleEndian.Uint32(b[56+4*i:])
	}
	r.Method, r.Action, r.CapacityType, r.Flags = b[96], b[97], b[98], b[99]
	r.JobPods = binary.LittleEndian.Uint32(b[100:])
	r.SinceDisruption = float(b[104:])
	r.PoolEvictions = binary.LittleEndian.Uint32(b[112:])
	r.ClusterEvictions = binary.LittleEndian.Uint32(b[116:])
	r.MoveCost = float(b[120:])
}

// Put writes the answer to b, which must have ConsolidateOutStride bytes.
func (r *ConsolidateOut) Put(b []byte) {
	b = b[:ConsolidateOutStride]
	putFloat(b[0:], r.HoldSeconds)
	putFloat(b[8:], r.Cost)
	binary.LittleEndian.PutUint32(b[16:], r.Verdict)
	binary.LittleEndian.PutUint32(b[20:], r.Reason)
}

// Get reads the answer from b, which must have ConsolidateOutStride bytes.
func (r *ConsolidateOut) Get(b []byte) {
	b = b[:ConsolidateOutStride]
	r.HoldSeconds = float(b[0:])
	r.Cost = float(b[8:])
	r.Verdict = binary.LittleEndian.Uint32(b[16:])
	r.Reason = binary.LittleEndian.Uint32(b[20:])
}
