package policies_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/author"
)

// TestCheapestIsNative: without any rank policy the billed price stands, and
// with the shipped one too, bit for bit, whatever the offerings.
func TestCheapestIsNative(t *testing.T) {
	sources, err := author.Open(t.Context(), "cheapest")
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := sources[0].Compile(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shipped.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	g := rand.New(rand.NewPCG(3, 7))
	for range 200 {
		rows := make([]policy.RankRow, 1+g.IntN(50))
		for i := range rows {
			rows[i] = randomRow(g)
		}
		pool := model.Pool{Name: "general"}
		ask := func(policies ...policy.Policy) policy.RankOutcome {
			panel := policy.NewPanel(policies, nil)
			out := panel.Rank(t.Context(), &pool, &policy.RankInput{Pool: policy.PoolFacts{Name: pool.Name}, Rows: append([]policy.RankRow(nil), rows...)})
			for _, u := range panel.Uses() {
				if u.Fault != "" {
					t.Fatal(u.Fault)
				}
			}
			return out
		}
		native, asked := ask(), ask(shipped)
		if len(asked.Excluded) > 0 || asked.Refused != nil {
			t.Fatalf("something is dropped: %+v", asked)
		}
		for i := range rows {
			want, got := native.Tiers[i], asked.Tiers[i]
			if len(got) != 1 || len(want) != 1 || math.Float64bits(got[0].Cost) != math.Float64bits(want[0].Cost) || got[0].Until != 0 {
				t.Fatalf("row %+v: native %v, shipped %v", rows[i], want, got)
			}
		}
	}
}

func randomRow(g *rand.Rand) policy.RankRow {
	price := g.Float64() * 10
	switch g.IntN(6) {
	case 0:
		price = math.Float64frombits(g.Uint64N(math.Float64bits(math.MaxFloat64))) // any at all
	case 1:
		price = model.Price(g.Int64N(1 << 40)).USD() // what a catalogue may say
	case 2:
		price = 0
	}
	kinds := []model.CapacityType{model.OnDemand, model.Spot, model.Reserved}
	return policy.RankRow{
		InstanceType: "m7i.large", Family: "m7i", Zone: string(rune('a' + g.IntN(3))), Arch: "amd64",
		CapacityType: kinds[g.IntN(len(kinds))], Billed: price, OnDemand: g.Float64(), VCPU: float64(g.IntN(64)),
		MemoryGiB: float64(g.IntN(512)), Interruption: g.Float64(), PodsFit: g.Uint32(), GPUs: g.Uint32N(9), Running: g.Uint32(),
	}
}
