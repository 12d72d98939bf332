package supply

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/parallel"
	"spokeshave.dev/controller/core/solver/vec"
)

// Table is everything that can be launched. It depends on the NodePools, catalogues
// and DaemonSets of a snapshot, on what policies say of them, on the resources that
// the pods to place request (Dims) and on the label values that they mention. Once
// Lower has returned it does not change, but for answers that are kept; several
// solves may use it, one after the other.
type Table struct {
	snap    *model.Snapshot
	costs   []Costs
	denied  []model.Denied
	blocked []*model.Reason
	Dims    Dims
	// mentioned are, by label key, the values that the pods to place name.
	mentioned map[string][]string

	// catalogues are by index of the snapshot's, nil until one is used.
	catalogues []*Catalogue
	Keys       OfferingKeys
	Templates  []Template
	// WeightRanks is how many different weights the templates have.
	WeightRanks int32
	Offers      []Offer
	// Reserves is set when an offer uses a reservation.
	Reserves bool
	Shapes   []Shape
	// DaemonPorts number the host ports of DaemonSets.
	DaemonPorts constraint.Ports
	// sets are sets of offers that were asked for.
	sets offerSets
}

// offerSets are sets of offers that are kept, since they are asked for again.
type offerSets struct {
	// requirements and selectors hold the offers that meet a constraint, by the
	// constraint's text.
	requirements, selectors map[string]vec.Bits
	// holdable is what DropTooLarge leaves of a set.
	holdable memo
	// labels are, by label, what OffersByLabel returns.
	labels labelMemo
}

// Question is what there is to launch from, and what policies say of it.
type Question struct {
	Snapshot *model.Snapshot
	// Costs hold the effective costs by pool; nil, or a nil entry, means that the
	// billed price counts.
	Costs []Costs
	// Denied are launches that a review refused.
	Denied []model.Denied
	// Blocked says, by pool, why nothing may be launched from it; nil, or a nil
	// entry, leaves the pool open.
	Blocked []*model.Reason
}

// newTable prepares the table of a question for pods of some specs, by their
// index in the snapshot. Lower has to be called before offers are looked at.
func newTable(in *Question, specs []int32) *Table {
	p := &Table{
		snap: in.Snapshot, costs: in.Costs, denied: slices.Clone(in.Denied), blocked: slices.Clone(in.Blocked),
		Dims: dimsOf(in.Snapshot, specs), mentioned: map[string][]string{},
		catalogues: make([]*Catalogue, len(in.Snapshot.Catalogs)),
		Keys:       OfferingKeys{ids: map[OfferingKey]int32{}},
		sets:       offerSets{requirements: map[string]vec.Bits{}, selectors: map[string]vec.Bits{}},
	}
	if keys := customKeys(in.Snapshot.Pools); len(keys) > 0 {
		for _, i := range specs {
			mentionSpec(p.mentioned, &in.Snapshot.Specs[i], keys)
		}
	}
	for k := range p.mentioned {
		slices.Sort(p.mentioned[k])
	}
	return p
}

// Lower lists templates, offers and shapes.
func (p *Table) Lower() {
	newTemplates(p)
	newOffers(p)
	var sorted parallel.Group
	sorted.Go(p.SortTemplates)
	newShapes(p)
	sorted.Wait()
}

// Catalogue is the catalogue with the given index, prepared at first use.
func (p *Table) Catalogue(i int32) *Catalogue {
	if p.catalogues[i] == nil {
		p.catalogues[i] = newCatalogue(&p.snap.Catalogs[i], &p.Keys)
	}
	return p.catalogues[i]
}

// dimsOf numbers the resources that pods of some specs request.
func dimsOf(s *model.Snapshot, specs []int32) Dims {
	asked := map[string]int{}
	for _, i := range specs {
		for name, n := range s.Specs[i].Requests {
			if n > 0 {
				asked[name]++
			}
		}
	}
	return newDims(asked)
}

// SpecsOf are the specs of some pods, in the order of their first pod.
func SpecsOf(s *model.Snapshot, pods []int32) []int32 {
	var out []int32
	done := make([]bool, len(s.Specs))
	for _, i := range pods {
		if at := s.Pods[i].Spec; !done[at] {
			done[at] = true
			out = append(out, at)
		}
	}
	return out
}
