package problem

import (
	"math/bits"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/parallel"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Input is what a problem is made of.
type Input struct {
	// Supply says what may be launched. Its snapshot has the pods and the nodes.
	Supply supply.Question
	// Prepared is shared by the problems of one decision.
	Prepared *supply.Cache
	// Pods index the snapshot's pods: those to place. A pod listed here does not use
	// the node that it is on now.
	Pods []int32
	// Required are the specs without their preferences.
	Required []model.PodSpec
	// RespectPreferences is set when the preferences in the specs count.
	RespectPreferences bool
	// Admissions is shared by the problems of one question; nil for none.
	Admissions *Admissions
}

// Problem is the question in the solver's representation. While a plan is made, the
// classes are replaced by classes of fewer pods each and get reasons, and the tables
// Ports, Conflicts and Choices grow. Nothing else changes.
type Problem struct {
	Supply   *supply.Table
	Snapshot *model.Snapshot
	// Pods index Snapshot.Pods: the pods to place.
	Pods []int32

	Ports     constraint.Ports
	Conflicts *constraint.ConflictGraph
	Topology  *constraint.Groups

	// Choices are the different sets of offers that classes may use.
	Choices vec.Sets
	Classes []Class
	// Scale weighs resources, so that amounts of different ones can be added.
	Scale vec.Reals
	// admissions are those of the input.
	admissions *Admissions
}

// New translates the input.
func New(in *Input) *Problem {
	p := &Problem{Snapshot: in.Supply.Snapshot, Pods: in.Pods, admissions: in.Admissions}
	specs := supply.SpecsOf(p.Snapshot, in.Pods)
	table, isNew := in.Prepared.Find(&in.Supply, specs)
	p.Supply = table
	p.Conflicts = constraint.NewConflictGraph(&p.Ports)
	c := classifier{p: p, needs: nodeNeeds{ids: map[string]int32{}}}
	var grouped parallel.Group // groups pods while the offers are prepared
	grouped.Go(func() {
		p.Topology = p.admissions.groups(in)
		p.Classes = c.classes(len(specs))
	})
	if isNew {
		p.Supply.Lower()
	}
	p.Ports = p.Supply.DaemonPorts.Clone()
	grouped.Wait()
	c.open()
	p.newScale()
	return p
}

// newScale sets scale to the inverse of the mean pod's request of each resource.
func (p *Problem) newScale() {
	var sum vec.Vector
	pods := int64(0)
	for i := range p.Classes {
		n := int64(len(p.Classes[i].Pods))
		sum.Add(&p.Classes[i].Requests, n)
		pods += n
	}
	for r := range p.Scale {
		if sum[r] > 0 {
			p.Scale[r] = 1000 * float64(pods) / float64(sum[r])
		}
	}
}

// Size returns the weighted sum of a demand over all resources.
func (p *Problem) Size(d *vec.Vector) float64 {
	s := 0.0
	for r := range p.Supply.Dims.N() {
		s += float64(float64(d[r]) * p.Scale[r])
	}
	return s
}

// Capacity returns what a node of an offer has room for.
func (p *Problem) Capacity(offer int32) *vec.Vector {
	return &p.Supply.Shapes[p.Supply.Offers[offer].Shape].Capacity
}

// OffersOf returns the set of offers that the constraints of a class allow, whatever
// their size. The caller must not change it.
func (p *Problem) OffersOf(cl *Class) vec.Bits { return p.Choices.All[cl.Choice] }

// SomeFits reports whether an offer of the set can hold one pod.
func (p *Problem) SomeFits(req *vec.Vector, set vec.Bits) bool { return p.someFit(req, set) >= 0 }

// someFit returns the first offer of the set that can hold one pod, -1 for none.
func (p *Problem) someFit(req *vec.Vector, set vec.Bits) int32 {
	last := int32(-1)
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			o := int32(w*64 + bits.TrailingZeros64(x))
			shape := p.Supply.Offers[o].Shape
			if shape != last && vec.Fits(req, &p.Supply.Shapes[shape].Capacity, p.Supply.Dims.N()) {
				return o
			}
			last = shape
		}
	}
	return -1
}

// CountsOf returns the node counts of the given pods.
func (p *Problem) CountsOf(takes []ClassCount) constraint.NodeCounts {
	var y constraint.NodeCounts
	for _, t := range takes {
		y.Add(p.Classes[t.Class].Terms, t.N)
	}
	return y
}

// SelectPackedRules decides which rules packing considers, and numbers by them what
// each class excludes from its nodes.
func (p *Problem) SelectPackedRules() {
	all := make([]constraint.PodTerms, len(p.Classes))
	for i := range p.Classes {
		all[i] = constraint.PodTerms{Terms: p.Classes[i].Terms, Pods: len(p.Classes[i].Pods)}
	}
	p.Topology.SelectPacked(all)
	p.NumberConflicts()
}

// NumberConflicts sets the conflict number of every class.
func (p *Problem) NumberConflicts() {
	for i := range p.Classes {
		cl := &p.Classes[i]
		cl.Conflict = p.Conflicts.ID(cl.Ports, p.Topology.PackedTerms(cl.Terms))
	}
}

// PackedConflicts returns the rules on single nodes in packing's form.
func (p *Problem) PackedConflicts() packing.Conflicts {
	perNode, excludes := p.Conflicts.Tables()
	return packing.Conflicts{PerBin: perNode, Excludes: excludes}
}
