package solver

import (
	"sync"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// problem is the question in the solver's representation. Packing does not change
// it.
type problem struct {
	supply *supply.Table
	in     *Input
	snap   *model.Snapshot

	ports     constraint.Ports
	conflicts *constraint.ConflictGraph
	topology  *constraint.Groups

	// choices are the different sets of offers that classes may use.
	choices setTable
	classes []class
	// scale weighs resources, so that amounts of different ones can be added.
	scale vec.Reals
}

// newProblem translates the input. required are the specs without preferences.
func newProblem(in *Input, required []model.PodSpec) *problem {
	p := &problem{in: in, snap: in.Snapshot}
	specs := supply.SpecsOf(p.snap, in.Pods)
	table, isNew := in.Offerings.Find(&supply.Question{Snapshot: in.Snapshot, Costs: in.Costs, Denied: in.Denied, Blocked: in.Blocked}, specs)
	p.supply = table
	p.conflicts = constraint.NewConflictGraph(&p.ports)
	needs := &nodeNeeds{ids: map[string]int32{}}
	var grouped sync.WaitGroup // groups pods while the offers are prepared
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

// newScale sets scale to the inverse of the mean pod's request of each resource.
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

// size returns the weighted sum of a demand over all resources.
func (p *problem) size(d *vec.Vector) float64 {
	s := 0.0
	for r := range p.supply.Dims.N() {
		s += float64(float64(d[r]) * p.scale[r])
	}
	return s
}
