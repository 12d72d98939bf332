package solver

import (
	"sync"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// problem is the question of one solve, lowered. It is not changed by packing.
type problem struct {
	supply *supply.Table
	in     *Input
	snap   *model.Snapshot

	ports     constraint.Ports
	conflicts *constraint.ConflictGraph
	topology  *constraint.Groups

	domains     []topologyDomains
	counts      *domainCounts
	domainOrder domainOrder

	// choices are the different sets of offers that classes are left with.
	choices setTable
	classes []class
	// scale makes amounts of different resources comparable.
	scale vec.Reals
}

// newProblem lowers the input. required are the specs without preferences.
func newProblem(in *Input, required []model.PodSpec) *problem {
	p := &problem{in: in, snap: in.Snapshot}
	specs := supply.SpecsOf(p.snap, in.Pods)
	table, isNew := in.Offerings.Find(&supply.Question{Snapshot: in.Snapshot, Costs: in.Costs, Denied: in.Denied, Blocked: in.Blocked}, specs)
	p.supply = table
	p.conflicts = constraint.NewConflictGraph(&p.ports)
	needs := &nodeNeeds{ids: map[string]int32{}}
	var grouped sync.WaitGroup // pods are grouped beside what is on offer
	grouped.Go(func() {
		p.topology = constraint.NewGroups(p.snap, in.Pods, required, in.respectPreferences)
		p.newClasses(needs, len(specs))
	})
	if isNew {
		p.supply.Lower()
	}
	p.ports = p.supply.DaemonPorts.Clone()
	grouped.Wait()
	p.openClasses(needs)
	p.newScale()
	return p
}

// newScale weighs resources by the inverse of what the mean pod asks for.
func (p *problem) newScale() {
	var sum vec.Vector
	pods := int64(0)
	for i := range p.classes {
		n := int64(len(p.classes[i].pods))
		sum.Add(&p.classes[i].req, n)
		pods += n
	}
	for r := range p.scale {
		if sum[r] > 0 {
			p.scale[r] = 1000 * float64(pods) / float64(sum[r])
		}
	}
}

// size is how large a demand is in all resources together.
func (p *problem) size(d *vec.Vector) float64 {
	s := 0.0
	for r := range p.supply.Dims.N() {
		s += float64(float64(d[r]) * p.scale[r])
	}
	return s
}
