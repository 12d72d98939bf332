package solver

import (
	"math/bits"
	"sync"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// problemInput is what a problem is made of.
type problemInput struct {
	// supply says what may be launched. Its snapshot has the pods and the nodes.
	supply supply.Question
	// prepared is shared by the problems of one decision.
	prepared *supply.Cache
	// pods index the snapshot's pods: those to place. A pod listed here does not use
	// the node that it is on now.
	pods []int32
	// required are the specs without their preferences.
	required []model.PodSpec
	// respectPreferences is set when the preferences in the specs count.
	respectPreferences bool
}

// problem is the question in the solver's representation. Of its fields only classes
// is replaced while a plan is made: by classes with fewer pods each, and in their
// reasons. The tables ports, conflicts and choices grow.
type problem struct {
	supply *supply.Table
	snap   *model.Snapshot
	// pods index snap.Pods: the pods to place.
	pods []int32

	ports     constraint.Ports
	conflicts *constraint.ConflictGraph
	topology  *constraint.Groups

	// choices are the different sets of offers that classes may use.
	choices vec.Sets
	classes []class
	// scale weighs resources, so that amounts of different ones can be added.
	scale vec.Reals
}

// newProblem translates the input.
func newProblem(in *problemInput) *problem {
	p := &problem{snap: in.supply.Snapshot, pods: in.pods}
	specs := supply.SpecsOf(p.snap, in.pods)
	table, isNew := in.prepared.Find(&in.supply, specs)
	p.supply = table
	p.conflicts = constraint.NewConflictGraph(&p.ports)
	c := classifier{p: p, needs: nodeNeeds{ids: map[string]int32{}}}
	var grouped sync.WaitGroup // groups pods while the offers are prepared
	grouped.Go(func() {
		p.topology = constraint.NewGroups(p.snap, in.pods, in.required, in.respectPreferences)
		p.classes = c.classes(len(specs))
	})
	if isNew {
		p.supply.Lower()
	}
	p.ports = p.supply.DaemonPorts.Clone()
	grouped.Wait()
	c.open()
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

// capacity returns what a node of an offer has room for.
func (p *problem) capacity(offer int32) *vec.Vector {
	return &p.supply.Shapes[p.supply.Offers[offer].Shape].Capacity
}

// offersOf returns the set of offers that the constraints of a class allow, whatever
// their size. The caller must not change it.
func (p *problem) offersOf(cl *class) vec.Bits { return p.choices.All[cl.offers] }

// someFits reports whether an offer of the set can hold one pod.
func (p *problem) someFits(req *vec.Vector, set vec.Bits) bool { return p.someFit(req, set) >= 0 }

// someFit returns the first offer of the set that can hold one pod, -1 for none.
func (p *problem) someFit(req *vec.Vector, set vec.Bits) int32 {
	last := int32(-1)
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			o := int32(w*64 + bits.TrailingZeros64(x))
			shape := p.supply.Offers[o].Shape
			if shape != last && vec.Fits(req, &p.supply.Shapes[shape].Capacity, p.supply.Dims.N()) {
				return o
			}
			last = shape
		}
	}
	return -1
}

// countsOf returns the node counts of the given pods.
func (p *problem) countsOf(takes []classCount) constraint.NodeCounts {
	var y constraint.NodeCounts
	for _, t := range takes {
		y.Add(p.classes[t.class].terms, t.n)
	}
	return y
}

// selectPackedRules decides which rules packing considers, and numbers by them what
// each class excludes from its nodes.
func (p *problem) selectPackedRules() {
	all := make([]constraint.PodTerms, len(p.classes))
	for i := range p.classes {
		all[i] = constraint.PodTerms{Terms: p.classes[i].terms, Pods: len(p.classes[i].pods)}
	}
	p.topology.SelectPacked(all)
	p.numberConflicts()
}

// numberConflicts sets the conflict number of every class.
func (p *problem) numberConflicts() {
	for i := range p.classes {
		cl := &p.classes[i]
		cl.conflict = p.conflicts.ID(cl.ports, p.topology.PackedTerms(cl.terms))
	}
}

// packedConflicts returns the rules on single nodes in packing's form.
func (p *problem) packedConflicts() packing.Conflicts {
	perNode, excludes := p.conflicts.Tables()
	return packing.Conflicts{PerBin: perNode, Excludes: excludes}
}
