package solver

import (
	"maps"
	"sync"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// problem is a snapshot lowered for one solve. It is not changed by packing.
type problem struct {
	in   *Input
	snap *model.Snapshot

	dims dims
	// specCount counts the specs of the pods to place.
	specCount   int
	keys        offeringKeys
	catalogues  []*catalogue
	templates   []nodeTemplate
	mentioned   map[string][]string
	weightRanks int32
	offers      []offer
	shapes      []capacityShape
	ports       constraint.Ports
	conflicts   *constraint.ConflictGraph
	topology    *constraint.Groups
	domains     []topologyDomains
	counts      *domainCounts
	domainOrder domainOrder

	// requirements and selectors hold the offers that meet a constraint, by
	// its canonical text.
	requirements map[string]vec.Bits
	selectors    map[string]vec.Bits
	// choices are the different sets of offers that classes are left with.
	choices setTable
	classes []class
	// nodeSpecs are specs that ask different things of their nodes, nodeSpecIDs their
	// numbers.
	nodeSpecs   []*model.PodSpec
	nodeSpecIDs map[string]int32
	// scale makes amounts of different resources comparable.
	scale vec.Reals
}

// newProblem lowers the input. like is a problem of the same snapshot, pods and
// policies' answers, however much effort, that lends what is on offer; nil for
// none.
func newProblem(in *Input, required []model.PodSpec, like *problem) *problem {
	p := &problem{
		in: in, snap: in.Snapshot,
		keys:         offeringKeys{ids: map[offeringKey]int32{}},
		requirements: map[string]vec.Bits{}, selectors: map[string]vec.Bits{}, nodeSpecIDs: map[string]int32{},
	}
	p.conflicts = constraint.NewConflictGraph(&p.ports)
	p.catalogues = make([]*catalogue, len(p.snap.Catalogs))
	p.newDims()
	var grouped, sorted sync.WaitGroup // what is asked for, beside what is on offer
	grouped.Go(func() {
		p.topology = constraint.NewGroups(p.snap, in.Pods, required, in.respectPreferences)
		p.newClasses()
	})
	if like == nil {
		p.newTemplates()
		p.newOffers()
		sorted.Go(p.sortTemplates)
		p.newShapes()
	} else {
		p.shareOfferings(like)
	}
	grouped.Wait()
	p.openClasses()
	p.newScale()
	sorted.Wait()
	return p
}

// shareOfferings takes over what is on offer from a problem of the same question: it
// costs as much as everything else to find out, and packing leaves it alone.
func (p *problem) shareOfferings(like *problem) {
	p.catalogues, p.keys, p.mentioned = like.catalogues, like.keys, like.mentioned
	p.templates, p.weightRanks, p.offers, p.shapes = like.templates, like.weightRanks, like.offers, like.shapes
	p.requirements, p.selectors = maps.Clone(like.requirements), maps.Clone(like.selectors)
	p.ports = like.ports.Clone()
}

// catalogue is the catalogue with the given index, prepared at first use.
func (p *problem) catalogue(i int32) *catalogue {
	if p.catalogues[i] == nil {
		p.catalogues[i] = newCatalogue(&p.snap.Catalogs[i], &p.keys)
	}
	return p.catalogues[i]
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
	for r := range p.dims.n() {
		s += float64(float64(d[r]) * p.scale[r])
	}
	return s
}
