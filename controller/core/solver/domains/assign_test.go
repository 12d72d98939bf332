package domains_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
	"spokeshave.dev/test/kit/instancetype"
)

// zones is a problem of n pods of one spec, for which nodes can be launched in the
// zones a, b and c, the last at twice the price. There is an existing node in zone b,
// which has room for one pod and runs a pod with the label app=db.
func zones(n int, change func(*model.PodSpec)) *problem.Problem {
	pod := model.PodSpec{Namespace: "ns", Labels: map[string]string{"app": "web"}, Requests: model.Resources{"cpu": 1000, "pods": 1}}
	change(&pod)
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(instancetype.New("large", 8000, 64, 20,
			instancetype.OnDemand("a", model.PriceOf(1)), instancetype.OnDemand("b", model.PriceOf(1)), instancetype.OnDemand("c", model.PriceOf(2))))},
		Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
		Nodes: []model.Node{{Name: "old", Zone: "b", Pool: 0, State: model.Initialized, Allocatable: model.Resources{"cpu": 2000, "pods": 20}}},
		Specs: []model.PodSpec{pod, {Namespace: "ns", Labels: map[string]string{"app": "db"}, Requests: model.Resources{"cpu": 1000, "pods": 1}}},
		Pods:  []model.Pod{{Namespace: "ns", Name: "db", Spec: 1, Node: 0}},
	}
	in := problem.Input{Supply: supply.Question{Snapshot: s}, Required: s.Specs}
	for i := range n {
		in.Pods = append(in.Pods, int32(len(s.Pods)))
		s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: fmt.Sprint("web-", i), Node: -1})
	}
	return problem.New(&in)
}

func selecting(app string) model.PodSelector {
	return model.PodSelector{Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{app}}}}
}

func spread(s *model.PodSpec) {
	s.Spread = []model.Spread{{Key: constraint.LabelZone, MaxSkew: 1, MinDomains: 1, Selector: selecting("web")}}
}

func avoid(app string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAntiAffinity = []model.PodTerm{{Key: constraint.LabelZone, Selector: selecting(app)}}
	}
}

func follow(app string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAffinity = []model.PodTerm{{Key: constraint.LabelZone, Selector: selecting(app)}}
	}
}

// split describes classes after the assignment: how many pods they have, in which
// zones nodes may be launched for them, whether they may use the existing node in b,
// and the code of the reason when they have no domain.
func split(p *problem.Problem, classes []problem.Class, of *domains.Assignment) []string {
	var out []string
	for c := range classes {
		cl := &classes[c]
		if len(cl.Reasons) > 0 {
			out = append(out, fmt.Sprint(cl.N(), " ", cl.Reasons[0].Code))
			continue
		}
		in := map[string]bool{}
		for o := range p.Supply.Offers {
			if zone, ok := p.Supply.OfferLabel(int32(o), constraint.LabelZone); ok && p.OffersOf(cl).Has(int32(o)) {
				in[zone] = true
			}
		}
		text := ""
		for _, zone := range []string{"a", "b", "c"} {
			if in[zone] {
				text += zone
			}
		}
		if of.Admits(int32(c), 0) {
			text += ", old"
		}
		out = append(out, fmt.Sprint(cl.N(), " ", text))
	}
	slices.Sort(out)
	return out
}

// all returns the set of all offers.
func all(p *problem.Problem) func() vec.Bits {
	return func() vec.Bits {
		set := vec.NewBits(len(p.Supply.Offers))
		set.SetRange(0, int32(len(p.Supply.Offers)))
		return set
	}
}

// TestCountedZones checks that a spread counts on a zone where a node is or may be
// launched, and on no other: three pods are in b, and a and c are empty.
func TestCountedZones(t *testing.T) {
	p := zones(1, spread)
	group := p.Classes[0].Terms.DomainRules[0].Group
	for name, tc := range map[string]struct {
		reason     string
		launchable func() vec.Bits
		want       bool
	}{
		"All":  {"nodes may come to a and c, which have none of the pods", all(p), false},
		"None": {"the scheduler knows b alone", func() vec.Bits { return vec.NewBits(len(p.Supply.Offers)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := domains.NewCounts(domains.NewSpace(p, p.Hosts()), tc.launchable())
			c.Certain[group][1], c.Possible[group][1] = 3, 3
			if got := c.Satisfies(&p.Classes[0].Terms.DomainRules[0], 1, 1); got != tc.want {
				t.Errorf("%s: a fourth pod in b is allowed: %v", tc.reason, got)
			}
		})
	}
}

func TestAssign(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		pods   int
		change func(*model.PodSpec)
		order  domains.Order
		want   []string
	}{
		"NoRules":       {"pods without rules may go anywhere", 3, func(*model.PodSpec) {}, domains.SpreadFirst, []string{"3 abc, old"}},
		"Spread":        {"counts differ by one at most; the dearest zone gets fewest", 5, spread, domains.SpreadFirst, []string{"1 c", "2 a", "2 b, old"}},
		"ExistingFirst": {"the one with room on the existing node goes there", 1, spread, domains.ExistingFirst, []string{"1 b, old"}},
		"Avoid":         {"all go to the cheapest zone without db", 4, avoid("db"), domains.SpreadFirst, []string{"4 a"}},
		"AvoidOwn":      {"one to a zone, and the fourth has none", 4, avoid("web"), domains.SpreadFirst, []string{"1 PodAntiAffinity", "1 a", "1 b, old", "1 c"}},
		"Follow":        {"all go where db is", 3, follow("db"), domains.SpreadFirst, []string{"3 b, old"}},
		"FollowOwn":     {"the first one chooses the zone for all", 3, follow("web"), domains.CheapestFirst, []string{"3 b, old"}},
		"FollowNobody":  {"there is no such pod", 2, follow("cache"), domains.SpreadFirst, []string{"2 PodAffinity"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := zones(tc.pods, tc.change)
			classes, of := domains.Assign(p, p.Hosts(), all(p), tc.order)
			if diff := cmp.Diff(tc.want, split(p, classes, of)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestExcess checks that pods must go when others, which their spread relies on, have
// no place.
func TestExcess(t *testing.T) {
	p := zones(5, spread)
	classes, of := domains.Assign(p, p.Hosts(), all(p), domains.SpreadFirst)
	for c := range classes {
		if n, why := of.Excess(int32(c), classes[c].N()); n != 0 {
			t.Errorf("%d pods of %q must go although all have a place: %s", n, classes[c].Key, why.Message)
		}
	}
	for c := range classes {
		if strings.HasSuffix(classes[c].Key, "@c") {
			of.Remove(int32(c), 1)
		}
	}
	got := map[string]int32{}
	for c := range classes {
		key := classes[c].Key
		n, why := of.Excess(int32(c), classes[c].N())
		got[key[strings.LastIndex(key, "@"):]] = n
		if n > 0 && why.Code != model.TopologySpread {
			t.Errorf("the reason is %s, want %s", why.Code, model.TopologySpread)
		}
	}
	if diff := cmp.Diff(map[string]int32{"@a": 1, "@b": 1, "@c": 0}, got); diff != "" {
		t.Errorf("without the pod in c, one in a and one in b are too many (-want +got)\n%s", diff)
	}
}
