package constraint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

const app = "app"

// spec is a spec of pods with a label.
func spec(name string, change ...func(*model.PodSpec)) model.PodSpec {
	s := model.PodSpec{Namespace: "default", Labels: map[string]string{app: name}}
	for _, f := range change {
		f(&s)
	}
	return s
}

func selecting(name string) model.PodSelector {
	return model.PodSelector{
		Namespaces: []string{"default"},
		Labels:     []model.Requirement{{Key: app, Operator: model.In, Values: []string{name}}},
	}
}

func apart(key, name string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAntiAffinity = append(s.PodAntiAffinity, model.PodTerm{Key: key, Selector: selecting(name)})
	}
}

func near(key, name string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAffinity = append(s.PodAffinity, model.PodTerm{Key: key, Selector: selecting(name)})
	}
}

func spread(key, name string, skew int32) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.Spread = append(s.Spread, model.Spread{Key: key, MaxSkew: skew, MinDomains: 1, Selector: selecting(name)})
	}
}

// groupsOf are the groups of a pod of every spec, all to be placed.
func groupsOf(specs ...model.PodSpec) *constraint.Groups {
	s := &model.Snapshot{Specs: specs}
	var pods []int32
	for i := range specs {
		s.Pods = append(s.Pods, model.Pod{Spec: int32(i), Node: -1})
		pods = append(pods, int32(i))
	}
	return constraint.NewGroups(s, pods, specs, false)
}

// TestAllows adds a pod of the second spec to a node with so many of the first.
func TestAllows(t *testing.T) {
	const host, zone = constraint.LabelHostname, constraint.LabelZone
	cases := map[string]struct {
		reason     string
		there      model.PodSpec
		n          int32
		resident   bool
		joins      model.PodSpec
		want, asks int32
	}{
		"no rules":            {reason: "any number joins", there: spec("a"), n: 3, joins: spec("b"), asks: 7, want: 7},
		"own anti-affinity":   {reason: "one pod of its kind a node", there: spec("a"), joins: spec("b", apart(host, "b")), asks: 7, want: 1},
		"anti-affinity":       {reason: "the pod excludes those there", there: spec("a"), n: 1, joins: spec("b", apart(host, "a")), asks: 1},
		"excluded by another": {reason: "those there exclude the pod", there: spec("a", apart(host, "b")), n: 1, joins: spec("b"), asks: 1},
		"running, excludes":   {reason: "anti-affinity of running pods stays in force", there: spec("a", apart(host, "b")), n: 1, resident: true, joins: spec("b"), asks: 1},
		"spread":              {reason: "up to maxSkew on a node, where other nodes may have none", there: spec("a", spread(host, "a", 3)), n: 1, joins: spec("a", spread(host, "a", 3)), asks: 9, want: 2},
		"running, spread":     {reason: "a spread is checked when its pod is bound, not after", there: spec("a", spread(host, "b", 1)), n: 1, resident: true, joins: spec("b"), asks: 9, want: 9},
		"affinity":            {reason: "nobody whom the pod wants is there", there: spec("b"), n: 1, joins: spec("c", near(host, "a")), asks: 1},
		"affinity met":        {reason: "any number joins those whom they want", there: spec("a"), n: 1, joins: spec("c", near(host, "a")), asks: 4, want: 4},
		"other keys":          {reason: "rules over zones do not bind a node", there: spec("a", apart(zone, "b")), n: 1, joins: spec("b", apart(zone, "a")), asks: 2, want: 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			groups := groupsOf(c.there, c.joins)
			var node constraint.NodeCounts
			if c.resident {
				for range c.n {
					node.AddResident(groups.Of(0))
				}
			} else {
				node.Add(groups.Of(0), c.n)
			}
			if got := node.Allows(groups.Of(1), c.asks); got != c.want {
				t.Errorf("%s: %d of %d may join, want %d", c.reason, got, c.asks, c.want)
			}
		})
	}
}

// TestRemove takes back what Add counted.
func TestRemove(t *testing.T) {
	groups := groupsOf(spec("a", spread(constraint.LabelHostname, "a", 5)))
	var node constraint.NodeCounts
	node.Add(groups.Of(0), 4)
	node.Remove(groups.Of(0), 3)
	if got := node.Allows(groups.Of(0), 9); got != 4 {
		t.Errorf("%d may join a node with one of five, want 4", got)
	}
}

// TestConflicts draws edges between pods that exclude each other from a node.
func TestConflicts(t *testing.T) {
	const host = constraint.LabelHostname
	port := func(n int32, ip string) []model.HostPort { return []model.HostPort{{Port: n, IP: ip}} }
	type pod struct {
		spec  model.PodSpec
		ports []model.HostPort
	}
	cases := map[string]struct {
		reason    string
		a, b      pod
		conflict  bool
		exclusive bool // of a
	}{
		"none":            {reason: "neither excludes anybody", a: pod{spec: spec("a")}, b: pod{spec: spec("b")}},
		"port":            {reason: "one port", a: pod{spec: spec("a"), ports: port(80, "")}, b: pod{spec: spec("b"), ports: port(80, "")}, conflict: true, exclusive: true},
		"ports":           {reason: "other ports", a: pod{spec: spec("a"), ports: port(80, "")}, b: pod{spec: spec("b"), ports: port(81, "")}, exclusive: true},
		"wildcard":        {reason: "the wildcard takes all addresses", a: pod{spec: spec("a"), ports: port(80, "10.0.0.1")}, b: pod{spec: spec("b"), ports: port(80, "0.0.0.0")}, conflict: true, exclusive: true},
		"other addresses": {reason: "two addresses", a: pod{spec: spec("a"), ports: port(80, "10.0.0.1")}, b: pod{spec: spec("b"), ports: port(80, "10.0.0.2")}, exclusive: true},
		"anti-affinity":   {reason: "a excludes b", a: pod{spec: spec("a", apart(host, "b"))}, b: pod{spec: spec("b")}, conflict: true},
		"its own kind":    {reason: "a excludes a, not b", a: pod{spec: spec("a", apart(host, "a"))}, b: pod{spec: spec("b")}, exclusive: true},
		"spread":          {reason: "two of a may share a node", a: pod{spec: spec("a", spread(host, "a", 2))}, b: pod{spec: spec("b")}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			groups := groupsOf(c.a.spec, c.b.spec)
			groups.SelectPacked([]constraint.PodTerms{{Terms: groups.Of(0), Pods: 1}, {Terms: groups.Of(1), Pods: 1}})
			var ports constraint.Ports
			graph := constraint.NewConflictGraph(&ports)
			a := graph.ID(ports.ID(c.a.ports), groups.PackedTerms(groups.Of(0)))
			b := graph.ID(ports.ID(c.b.ports), groups.PackedTerms(groups.Of(1)))
			if got := graph.Conflicts(a, b); got != c.conflict || got != graph.Conflicts(b, a) {
				t.Errorf("%s: conflict %v, the other way %v, want %v", c.reason, got, graph.Conflicts(b, a), c.conflict)
			}
			if got := graph.Exclusive(a); got != c.exclusive {
				t.Errorf("%s: exclusive %v, want %v", c.reason, got, c.exclusive)
			}
		})
	}
}

// TestGroups: equal constraints share a group, whatever pods they are of.
func TestGroups(t *testing.T) {
	const zone = constraint.LabelZone
	groups := groupsOf(spec("a", spread(zone, "x", 1)), spec("x", spread(zone, "x", 2)), spec("b", apart(zone, "x")))
	if got := len(groups.All); got != 2 { // of spreads, which pass over pods that are ending, and of the others
		t.Errorf("%d groups, want 2", got)
	}
	got := make([]int, 3)
	for i := range got {
		got[i] = len(groups.Of(int32(i)).DomainGroups)
	}
	if diff := cmp.Diff([]int{0, 2, 0}, got); diff != "" {
		t.Errorf("groups that count each spec (-want +got)\n%s", diff)
	}
}

// TestTexts: what means the same has the same text, whatever the order.
func TestTexts(t *testing.T) {
	in := func(key string, values ...string) model.Requirement {
		return model.Requirement{Key: key, Operator: model.In, Values: values}
	}
	a := &model.PodSpec{Affinity: []model.Term{{in("x", "1", "2"), in("y", "3")}, {in("z", "4")}}}
	b := &model.PodSpec{Affinity: []model.Term{{in("z", "4")}, {in("y", "3"), in("x", "2", "1")}}}
	if x, y := constraint.SelectorText(a), constraint.SelectorText(b); x != y {
		t.Errorf("%q is not %q", x, y)
	}
	c := &model.PodSpec{Affinity: []model.Term{{in("x", "1", "2")}, {in("y", "3")}, {in("z", "4")}}}
	if x, y := constraint.SelectorText(a), constraint.SelectorText(c); x == y {
		t.Errorf("two terms and three have the text %q", x)
	}
}

// TestPermanentTaints: a node that starts has taints that go away by themselves.
func TestPermanentTaints(t *testing.T) {
	taint := func(key string) model.Taint { return model.Taint{Key: key, Effect: model.NoSchedule} }
	pools := []model.Pool{{StartupTaints: []model.Taint{taint("cni")}}}
	taints := []model.Taint{taint("cni"), taint("node.kubernetes.io/not-ready"), taint("readiness.k8s.io/network"), taint("dedicated")}
	node := model.Node{Pool: 0, State: model.Registered, Taints: taints}
	if diff := cmp.Diff(taints[3:], constraint.PermanentTaints(&node, pools)); diff != "" {
		t.Errorf("of a node that starts (-want +got)\n%s", diff)
	}
	node.State = model.Initialized
	if diff := cmp.Diff(taints, constraint.PermanentTaints(&node, pools)); diff != "" {
		t.Errorf("of a node that has started (-want +got)\n%s", diff)
	}
}
