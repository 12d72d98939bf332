package insertion

import (
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// TestFirstOffers compares what is remembered of a partition's offers with a look at each of
// them, for partitions of more than one word of bits, and sets that are asked for often enough to leave
// out the offers that are dominated.
func TestFirstOffers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const offers, choices, classes = 200, 7, 40
	const all, none = 5, 6
	p := &problem.Problem{Supply: &supply.Table{Dims: supply.Dims{Names: []string{"cpu", "memory"}}}}
	for range 12 {
		p.Supply.Shapes = append(p.Supply.Shapes, supply.Shape{Capacity: vec.Vector{1 + r.Int64N(8), 1 + r.Int64N(8)}})
	}
	for range offers {
		p.Supply.Offers = append(p.Supply.Offers, supply.Offer{Shape: r.Int32N(12)})
	}
	for c := range choices {
		set := vec.NewBits(offers)
		for o := range int32(offers) {
			if c == all || c != none && r.IntN(3) == 0 {
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
		if x.offers == nil {
			x.offers = vec.NewBits(offers)
		}
		x.offers.Set(int32(o))
		x.byCost = append(x.byCost, int32(o))
	}
	usable := newUsableOffers(p, partitions)
	var first *firstOffers
	found := 0
	const questions = 3 * choices * oftenAsked * 2 // remembered answers as well
	for i := range questions {
		if i%(questions/10) == 0 {
			first = newFirstOffers(p, usable)
		}
		c, x := r.Int32N(classes), r.IntN(len(partitions))
		usable.candidates(usable.of(p.Classes[c].Choice, x), x)
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
	if found < questions/4 || found == questions {
		t.Errorf("%d of %d questions had an offer: the test asks too little", found, questions)
	}
	for x := range partitions {
		set := usable.of(all, x)
		if n := set.undominated.Load().Count(); n == 0 || n > len(partitions[x].byCost)/4 {
			t.Errorf("partition %d: %d of %d offers are not dominated: the test asks too little", x, n, len(partitions[x].byCost))
		}
		if usable.of(none, x).Next(0) >= 0 {
			t.Errorf("partition %d: a choice of nothing may use an offer", x)
		}
	}
}
