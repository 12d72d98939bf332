package insertion

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
)

// Places are the places of a problem where pods may go, and what is known of them before any pod
// is placed. Insertions into equal problems, whose hosts are the same and whose strategies have equal
// Templates, share them, also at the same time; their plans do not depend on what another one has asked. The zero value
// is ready.
type Places struct {
	lock   sync.Mutex
	byKind map[placesKind]*places
}

// placesKind is what of a strategy decides how offers are partitioned.
type placesKind struct{ fixedZone, mostUseful bool }

// places are those of strategies of one kind. They do not change, except for what they remember.
type places struct {
	hostPositions []topologyPosition // by host
	partitions    []offerPartition
	// positions is how many different positions hosts and partitions have.
	positions   int
	usable      *usableOffers
	firstOffers *firstOffers
	// opened are by shape of pod where a node may be opened for it, once somebody has asked.
	opened []atomic.Pointer[[]opening]
}

// opening is a partition in which a new node may be opened for a pod, as far as bounds and
// constraints between pods allow.
type opening struct {
	partition int32
	// at is the index in offerPartition.byCost of the cheapest offer with room, cost what a node of it costs in
	// USD/hour. rank is the partition's Template.WeightRank.
	at, rank int32
	cost     float64
}

// openings returns where a node may be opened for a pod of class c: the heaviest pools first, and
// in those of one weight where it is cheapest.
func (t *places) openings(c int32) []opening {
	known := &t.opened[t.firstOffers.shapeOf[c]]
	if list := known.Load(); list != nil {
		return *list
	}
	var list []opening
	for i := range t.partitions {
		if at := t.firstOffers.of(c, i); at >= 0 {
			x := &t.partitions[i]
			list = append(list, opening{int32(i), at, t.usable.supply.Templates[x.template].WeightRank, t.newNodeCost(x, at)})
		}
	}
	slices.SortStableFunc(list, func(a, b opening) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cost, b.cost)) })
	known.Store(&list)
	return list
}

// newNodeCost returns what a node of the offer at an index of the partition costs in
// USD/hour: effective cost and Catalog.NodeCost.
func (t *places) newNodeCost(x *offerPartition, at int32) float64 {
	return t.usable.supply.Offers[x.byCost[at]].Cost + t.usable.supply.FixedCost(x.template).USD()
}

// of returns the places for a strategy; nil when there are more than maxPartitions kinds of them.
func (t *Places) of(p *problem.Problem, s *domains.Space, hosts []problem.Host, counts *domains.Counts, by *Strategy) *places {
	kind := placesKind{by.FixedZone, by.MostUseful}
	t.lock.Lock()
	defer t.lock.Unlock()
	if known, ok := t.byKind[kind]; ok {
		return known
	}
	if t.byKind == nil {
		t.byKind = map[placesKind]*places{}
	}
	made := newPlaces(p, s, hosts, counts, by)
	t.byKind[kind] = made
	return made
}

func newPlaces(p *problem.Problem, s *domains.Space, hosts []problem.Host, counts *domains.Counts, by *Strategy) *places {
	parts := newPartitions(p, s, counts, by)
	if parts == nil {
		return nil
	}
	t := &places{hostPositions: hostPositions(p, s, hosts), partitions: parts.list}
	numbers := map[string]int32{}
	for i := range t.hostPositions {
		t.hostPositions[i].number(numbers)
	}
	for i := range t.partitions {
		t.partitions[i].number(numbers)
	}
	t.positions = len(numbers)
	t.usable = newUsableOffers(p, t.partitions)
	t.firstOffers = newFirstOffers(p, t.usable)
	t.opened = make([]atomic.Pointer[[]opening], len(t.firstOffers.shapes))
	return t
}

// number gives equal positions the same number.
func (x *topologyPosition) number(numbers map[string]int32) {
	var key []byte
	for _, v := range x.domain {
		key = append(strconv.AppendInt(key, int64(v), 36), ' ')
	}
	for _, counted := range x.counted {
		key = strconv.AppendBool(key, counted)
	}
	id, known := numbers[string(key)]
	if !known {
		id = int32(len(numbers))
		numbers[string(key)] = id
	}
	x.id = id
}
