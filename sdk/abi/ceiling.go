package abi

import "encoding/binary"

// Sizes in bytes of the records of the ceiling hook.
const (
	ScopeStride      = 32
	LaunchStride     = 88
	CeilingOutStride = 24
)

// Flags of a CeilingOut.
const (
	// CeilingHourly and CeilingMonthly say which bounds of a cap are set,
	// CeilingSoft that it only warns.
	CeilingHourly  = 1
	CeilingMonthly = 2
	CeilingSoft    = 4
	// CeilingDeny refuses a launch.
	CeilingDeny = 8
)

// ScopeRow is what a scope spends: USD per hour running and in flight, USD
// since the first of the month (UTC). Scope is a string id.
type ScopeRow struct {
	Running     float64
	InFlight    float64
	MonthToDate float64
	Scope       uint32
	Nodes       uint32
}

// LaunchRow is a node that the plan would launch. Prices are in USD per hour;
// Pool, Type, Family and Zone are string ids. Namespaces are pairs whose value
// is empty.
type LaunchRow struct {
	Price           float64
	WorstPrice      float64
	OnDemand        float64
	VCPU            float64
	MemoryGiB       float64
	Pool            uint32
	Type            uint32
	Family          uint32
	Zone            uint32
	GPUs            uint32
	Pods            uint32
	PoolLabelsFirst uint32
	PoolLabelsCount uint32
	NamespacesFirst uint32
	NamespacesCount uint32
	CapacityType    uint8
	Flags           uint8
	_               [6]uint8
}

// CeilingOut is the cap of a scope or the verdict on a launch: the out section
// has a row for every scope, then a row for every launch, then a row for every
// scope again: a soft cap beside its cap, with CeilingHourly and CeilingMonthly
// for flags.
type CeilingOut struct {
	HourlyUSD  float64
	MonthlyUSD float64
	Flags      uint32
	Reason     uint32
}

// Put writes the row to b, which must have ScopeStride bytes.
func (r *ScopeRow) Put(b []byte) {
	b = b[:ScopeStride]
	putFloat(b[0:], r.Running)
	putFloat(b[8:], r.InFlight)
	putFloat(b[16:], r.MonthToDate)
	binary.LittleEndian.PutUint32(b[24:], r.Scope)
	binary.LittleEndian.PutUint32(b[28:], r.Nodes)
}

// Get reads the row from b, which must have ScopeStride bytes.
func (r *ScopeRow) Get(b []byte) {
	b = b[:ScopeStride]
	r.Running = float(b[0:])
	r.InFlight = float(b[8:])
	r.MonthToDate = float(b[16:])
	r.Scope = binary.LittleEndian.Uint32(b[24:])
	r.Nodes = binary.LittleEndian.Uint32(b[28:])
}

// Put writes the row to b, which must have LaunchStride bytes.
func (r *LaunchRow) Put(b []byte) {
	b = b[:LaunchStride]
	for i, f := range [...]float64{r.Price, r.WorstPrice, r.OnDemand, r.VCPU, r.MemoryGiB} {
		putFloat(b[8*i:], f)
	}
	for i, n := range [...]uint32{
		r.Pool, r.Type, r.Family, r.Zone, r.GPUs, r.Pods,
		r.PoolLabelsFirst, r.PoolLabelsCount, r.NamespacesFirst, r.NamespacesCount,
	} {
		binary.LittleEndian.PutUint32(b[40+4*i:], n)
	}
	b[80], b[81] = r.CapacityType, r.Flags
	clear(b[82:])
}

// Get reads the row from b, which must have LaunchStride bytes.
func (r *LaunchRow) Get(b []byte) {
	b = b[:LaunchStride]
	for i, f := range [...]*float64{&r.Price, &r.WorstPrice, &r.OnDemand, &r.VCPU, &r.MemoryGiB} {
		*f = float(b[8*i:])
	}
	for i, n := range [...]*uint32{
		&r.Pool, &r.Type, &r.Family, &r.Zone, &r.GPUs, &r.Pods,
		&r.PoolLabelsFirst, &r.PoolLabelsCount, &r.NamespacesFirst, &r.NamespacesCount,
	} {
		*n = binary.LittleEndian.Uint32(b[40+4*i:])
	}
	r.CapacityType, r.Flags = b[80], b[81]
}

// Put writes the answer to b, which must have CeilingOutStride bytes.
func (r *CeilingOut) Put(b []byte) {
	b = b[:CeilingOutStride]
	putFloat(b[0:], r.HourlyUSD)
	putFloat(b[8:], r.MonthlyUSD)
	binary.LittleEndian.PutUint32(b[16:], r.Flags)
	binary.LittleEndian.PutUint32(b[20:], r.Reason)
}

// Get reads the answer from b, which must have CeilingOutStride bytes.
func (r *CeilingOut) Get(b []byte) {
	b = b[:CeilingOutStride]
	r.HourlyUSD = float(b[0:])
	r.MonthlyUSD = float(b[8:])
	r.Flags = binary.LittleEndian.Uint32(b[16:])
	r.Reason = binary.LittleEndian.Uint32(b[20:])
}
