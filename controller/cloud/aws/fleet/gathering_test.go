package fleet

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// arrival is a claim that asks for an attempt after a while.
type arrival struct {
	after time.Duration
	id    memberID
	group provider.Group
}

// answered is a window: who was in it, and when it closed.
type answered struct {
	Claims []string
	After  time.Duration
}

// gathered plays arrivals and tells the windows in the order in which they closed.
func gathered(t *testing.T, most int, arrivals []arrival) []answered {
	t.Helper()
	var out []answered
	var mu sync.Mutex
	begun := time.Now()
	g := gathering{most: most, clock: time.Now, give: func(members []*member) {
		mu.Lock()
		defer mu.Unlock()
		a := answered{After: time.Since(begun)}
		for _, m := range members {
			m.attempt = provider.Attempt{Token: m.claim}
			a.Claims = append(a.Claims, m.claim)
		}
		slices.Sort(a.Claims)
		out = append(out, a)
	}}
	var all sync.WaitGroup
	for _, each := range arrivals {
		all.Go(func() {
			time.Sleep(each.after) //nolint:forbidigo // of the bubble's time
			got, err := g.attempt(t.Context(), &member{memberID: each.id, group: each.group})
			if err != nil || got.Token != each.id.claim {
				t.Errorf("%s was given the attempt of %q, %v", each.id.claim, got.Token, err)
			}
		})
	}
	all.Wait()
	return out
}

func TestGathering(t *testing.T) {
	of := func(size int) provider.Group { return provider.Group{Name: "d-0", Size: size} }
	const ms = time.Millisecond
	var slow []arrival
	for i := range 12 {
		slow = append(slow, arrival{time.Duration(i) * 900 * ms, memberID{string(rune('a' + i)), 0}, of(20)})
	}
	for name, c := range map[string]struct {
		reason   string
		most     int
		arrivals []arrival
		want     []answered
	}{
		"alone": {
			"a group of one waits for nobody", 10,
			[]arrival{{0, memberID{"a", 0}, of(1)}},
			[]answered{{[]string{"a"}, 0}},
		},
		"all came": {
			"the window closes with the last member, however far apart they come", 10,
			[]arrival{{0, memberID{"a", 0}, of(3)}, {900 * ms, memberID{"b", 0}, of(3)}, {1800 * ms, memberID{"c", 0}, of(3)}},
			[]answered{{[]string{"a", "b", "c"}, 1800 * ms}},
		},
		"one is absent": {
			"whoever does not come is waited for a second", 10,
			[]arrival{{0, memberID{"a", 0}, of(3)}, {500 * ms, memberID{"b", 0}, of(3)}},
			[]answered{{[]string{"a", "b"}, 1500 * ms}},
		},
		"late": {
			"the last member of a group whose window has closed waits for nobody", 10,
			[]arrival{{0, memberID{"a", 0}, of(2)}, {3000 * ms, memberID{"b", 0}, of(2)}},
			[]answered{{[]string{"a"}, 1000 * ms}, {[]string{"b"}, 3000 * ms}},
		},
		"slow": {
			"nobody waits longer than ten seconds", 100,
			slow,
			[]answered{{strings.Split("abcdefghijkl", ""), 10_000 * ms}},
		},
		"no other can come": {
			"as many wait as are launched at the same time", 3,
			[]arrival{{0, memberID{"a", 0}, of(9)}, {10 * ms, memberID{"b", 0}, of(9)}, {20 * ms, memberID{"x", 0}, provider.Group{Name: "d-7", Size: 2}}},
			[]answered{{[]string{"a", "b"}, 20 * ms}, {[]string{"x"}, 20 * ms}},
		},
		"tried again": {
			"how many of a group try again is not known", 10,
			[]arrival{{0, memberID{"a", 1}, of(9)}, {50 * ms, memberID{"b", 1}, of(9)}},
			[]answered{{[]string{"a", "b"}, 150 * ms}},
		},
		"no group": {
			"claims without a group share what comes at about the same time", 10,
			[]arrival{{0, memberID{"a", 0}, provider.Group{}}, {90 * ms, memberID{"b", 0}, provider.Group{}}},
			[]answered{{[]string{"a", "b"}, 190 * ms}},
		},
		"twice": {
			"the same attempt asked for twice is one member", 10,
			[]arrival{{0, memberID{"a", 0}, of(2)}, {10 * ms, memberID{"a", 0}, of(2)}, {20 * ms, memberID{"b", 0}, of(2)}},
			[]answered{{[]string{"a", "b"}, 20 * ms}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := gathered(t, c.most, c.arrivals)
				slices.SortFunc(got, func(a, b answered) int { return slices.Compare(a.Claims, b.Claims) })
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s: windows (-want +got):\n%s", c.reason, diff)
				}
			})
		})
	}
}

// A caller that gives up leaves its claim in the window: the others do not wait for it
// again.
func TestGatheringOutlivesItsCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		size := 0
		g := gathering{most: 10, clock: time.Now, give: func(members []*member) { size = len(members) }}
		over, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		group := provider.Group{Name: "d-0", Size: 2}
		if _, err := g.attempt(over, &member{memberID: memberID{claim: "a"}, group: group}); provider.KindOf(err) != provider.Unavailable {
			t.Errorf("%v, want one that is tried again", err)
		}
		if _, err := g.attempt(t.Context(), &member{memberID: memberID{claim: "b"}, group: group}); err != nil || size != 2 {
			t.Errorf("%v, a window of %d; want both", err, size)
		}
	})
}

// The names of a group's claims are kept until all have come, and no longer. A claim that asks
// again then waits for nobody.
func TestAttendanceEndsWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gathering{most: 10, clock: time.Now, give: func([]*member) {}}
		group, begun := provider.Group{Name: "d-0", Size: 2}, time.Now()
		ask := func(claim string) {
			if _, err := g.attempt(t.Context(), &member{memberID: memberID{claim: claim}, group: group}); err != nil {
				t.Error(err)
			}
		}
		var first sync.WaitGroup
		first.Go(func() { ask("a") })
		synctest.Wait()
		if names := len(g.came[group].claims); names != 1 {
			t.Errorf("%d names are kept of a group of which one has come", names)
		}
		ask("b")
		first.Wait()
		ask("a")
		if names := len(g.came[group].claims); names != 0 || time.Since(begun) != 0 {
			t.Errorf("%d names are kept of a group that is complete, which took %s; want none, at once", names, time.Since(begun))
		}
	})
}

// Whatever a request says is in its key: what differs is never sent as one.
func TestKeyTellsRequestsApart(t *testing.T) {
	want := func() *wanted {
		contextID := "c"
		return &wanted{
			overrides: []override{
				{Option: model.Option{InstanceType: "m", Zone: "a", CapacityType: model.Reserved}, image: "i", subnet: "s", reservation: &awsv1.CapacityReservation{ID: "cr-1"}},
				{Option: model.Option{InstanceType: "n", Zone: "a", CapacityType: model.Reserved}, image: "i", subnet: "s"},
			},
			templates: map[string]string{"i/cr-1": "t1", "i": "t2"}, tags: map[string]string{"k": "v"}, context: &contextID,
		}
	}
	same := want()
	same.overrides[0].Price = 7 // no part of the request
	if want().key() != same.key() {
		t.Error("equal requests have different keys")
	}
	for name, change := range map[string]func(*wanted){
		"type":          func(w *wanted) { w.overrides[0].InstanceType = "o" },
		"zone":          func(w *wanted) { w.overrides[0].Zone = "b" },
		"subnet":        func(w *wanted) { w.overrides[0].subnet = "r" },
		"capacity type": func(w *wanted) { w.overrides[0].CapacityType = model.Spot },
		"template":      func(w *wanted) { w.templates["i"] = "t3" },
		"interruptible": func(w *wanted) { w.overrides[0].reservation.Interruptible = true },
		"block":         func(w *wanted) { w.overrides[0].reservation.ReservationType = awsv1.ReservationTypeCapacityBlock },
		"order":         func(w *wanted) { slices.Reverse(w.overrides) },
		"fewer":         func(w *wanted) { w.overrides = w.overrides[:1] },
		"tag":           func(w *wanted) { w.tags["k"] = "w" },
		"tags":          func(w *wanted) { w.tags["l"] = "" },
		"context":       func(w *wanted) { w.context = nil },
	} {
		other := want()
		change(other)
		if other.key() == want().key() {
			t.Errorf("another %s and the same key", name)
		}
	}
}
