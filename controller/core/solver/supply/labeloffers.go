package supply

import (
	"slices"
	"sync"

	"spokeshave.dev/controller/core/solver/vec"
)

// LabelOffers are the values of a node label, sorted, and by value the offers whose nodes have it.
// Offers whose nodes do not have the label are in none.
type LabelOffers struct {
	Values []string
	Offers []vec.Bits
}

// labelMemo keeps what was made for labels: every plan asks for those of its topology
// constraints. The zero value is ready.
type labelMemo struct {
	lock sync.Mutex
	made map[string]LabelOffers
}

// OffersByLabel groups the offers of a table by a label. It may be called by several goroutines at the same
// time. The result is kept: the caller must not change it.
func OffersByLabel(p *Table, key string) LabelOffers {
	m := &p.sets.labels
	m.lock.Lock()
	defer m.lock.Unlock()
	if x, ok := m.made[key]; ok {
		return x
	}
	if m.made == nil {
		m.made = map[string]LabelOffers{}
	}
	x := groupByLabel(p, key)
	m.made[key] = x
	return x
}

func groupByLabel(p *Table, key string) LabelOffers {
	sets := map[string]vec.Bits{}
	var x LabelOffers
	for o := range p.Offers {
		v, ok := p.OfferLabel(int32(o), key)
		if !ok {
			continue
		}
		if sets[v] == nil {
			sets[v] = vec.NewBits(len(p.Offers))
			x.Values = append(x.Values, v)
		}
		sets[v].Set(int32(o))
	}
	slices.Sort(x.Values)
	for _, v := range x.Values {
		x.Offers = append(x.Offers, sets[v])
	}
	return x
}
