package insertion

import (
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// TestFirstOffers compares what is remembered of a partition's offers with a look at each of
// them, for partitions of more than one word of bits.
func TestFirstOffers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const offers, choices, classes = 200, 5, 40
	p := &problem.Problem{Supply: &supply.Table{Dims: supply.Dims{Names: []string{"cpu", "memory"}}}}
	for range 12 {
		p.Supply.Shapes = append(p.Supply.Shapes, supply.Shape{Capacity: vec.Vector{1 + r.Int64N(8), 1 + r.Int64N(8)}})
	}
	for range offers {
		p.Supply.Offers = append(p.Supply.Offers, supply.Offer{Shape: r.Int32N(12)})
	}
	for range choices {
		set := vec.NewBits(offers)
		for o := range int32(offers) {
			if r.IntN(3) == 0 {
				set.Set(o)
			}
		}
		p.Choices.All = append(p.Choices.All, set)
	}
	for range classes {
		p.Classes = append(p.Classes, problem.Class{Choice: r.Int32N(choices), Requests: vec.Vector{r.Int64N(10), r.Int64N(10)}})
	}
	partitions := make([]offerPartition, 3)
	for i, o := range r.Perm(offers) { // whatever the order, it is that of cost
		x := &partitions[i%7%3]
		x.byCost = append(x.byCost, int32(o))
	}
	usable := newUsableOffers(p, partitions)
	first := newFirstOffers(p, partitions, usable)
	found := 0
	for range 3 * classes { // remembered answers as well
		c, x := r.Int32N(classes), r.IntN(len(partitions))
		cl, want := &p.Classes[c], int32(-1)
		for i, o := range partitions[x].byCost {
			allowed := p.Choices.All[cl.Choice].Has(o)
			if got := usable.of(cl.Choice, x).Has(int32(i)); got != allowed {
				t.Errorf("choice %d, partition %d: offer %d is usable %t, want %t", cl.Choice, x, o, got, allowed)
			}
			if want < 0 && allowed && vec.Fits(&cl.Requests, p.Capacity(o), 2) {
				want = int32(i)
			}
		}
		if got := first.of(c, x); got != want {
			t.Errorf("class %d (%v), partition %d: first offer at %d, want %d", c, cl.Requests, x, got, want)
		}
		if want >= 0 {
			found++
		}
	}
	if found < classes || found == 3*classes {
		t.Errorf("%d of %d questions had an offer: the test asks too little", found, 3*classes)
	}
}
