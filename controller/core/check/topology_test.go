package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

const (
	zone = "topology.kubernetes.io/zone"
	rack = "rack"
)

// scene is pods by place, written "app place": "web n1" runs on node n1, "web
// +n1" is placed there by the plan, "web +x:a" on a planned node x in zone a,
// "web +x:a,b" on one that may come up in zone a or b.
type scene struct {
	specs map[string]model.PodSpec
	pods  []string
	ending,
	cordoned bool
	// deleting says that n3 is being deleted.
	deleting bool
}

// plan makes the snapshot and the plan. Nodes n1 and n2 are in zone a, n3 in
// zone b, n4 has no zone; n1 to n3 have racks r1, r2 and r3.
func (s *scene) plan() (*model.Snapshot, *model.Plan, Constraints) {
	big := model.Resources{"cpu": 100_000, "memory": 1 << 40, "pods": 1000}
	t := instancetype.Of("m", big, instancetype.OnDemand("a", 1), instancetype.OnDemand("b", 1), instancetype.OnDemand("c", 1))
	snap := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(t)},
		Pools:    []model.Pool{{Name: "p", NodeClass: "default"}},
	}
	for _, n := range []struct{ name, zone, rack string }{{"n1", "a", "r1"}, {"n2", "a", "r2"}, {"n3", "b", "r3"}, {"n4", "", ""}} {
		node := model.Node{Name: n.name, State: model.Initialized, Zone: n.zone, Allocatable: big, Labels: map[string]string{}, Pool: -1}
		if n.rack != "" {
			node.Labels[rack] = n.rack
		}
		snap.Nodes = append(snap.Nodes, node)
	}
	if s.cordoned {
		snap.Nodes[2].Taints = []model.Taint{{Key: "node.kubernetes.io/unschedulable", Effect: model.NoSchedule}}
	}
	if s.deleting {
		snap.Nodes[2].State = model.Deleting
	}
	plan := &model.Plan{}
	var c Constraints
	spec, planned, assigned := map[string]int32{}, map[string]int{}, map[int32]int{}
	for _, line := range s.pods {
		app, place, _ := strings.Cut(line, " ")
		if _, ok := spec[app]; !ok {
			spec[app] = int32(len(snap.Specs))
			each := s.specs[app]
			each.Namespace, each.Labels = "ns", map[string]string{"app": app}
			snap.Specs = append(snap.Specs, each)
		}
		at := int32(len(snap.Pods))
		pod := model.Pod{Namespace: "ns", Name: line, Spec: spec[app], Node: -1, Ending: s.ending}
		name, placed := strings.CutPrefix(place, "+")
		name, zones, launched := strings.Cut(name, ":")
		node := int32(slices.IndexFunc(snap.Nodes, func(n model.Node) bool { return n.Name == name }))
		switch {
		case !placed:
			pod.Node = node
		case launched:
			if _, ok := planned[name]; !ok {
				planned[name] = len(plan.Nodes)
				n := model.PlannedNode{Requests: model.Resources{}}
				for z := range strings.SplitSeq(zones, ",") {
					n.Options = append(n.Options, model.Option{InstanceType: "m", Zone: z, CapacityType: model.OnDemand, Price: 1})
				}
				plan.Nodes = append(plan.Nodes, n)
			}
			plan.Nodes[planned[name]].Pods = append(plan.Nodes[planned[name]].Pods, at)
		default:
			if _, ok := assigned[node]; !ok {
				assigned[node] = len(plan.Existing)
				plan.Existing = append(plan.Existing, model.Assignment{Node: node})
			}
			a := &plan.Existing[assigned[node]]
			a.Pods = append(a.Pods, at)
		}
		if placed {
			pod.Ending = false
			c.Pods = append(c.Pods, at)
		}
		snap.Pods = append(snap.Pods, pod)
	}
	return snap, plan, c
}

func apps(names ...string) model.PodSelector {
	return model.PodSelector{Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: names}}}
}

func TestTopology(t *testing.T) {
	spread := func(key string, change ...func(*model.Spread)) map[string]model.PodSpec {
		s := model.Spread{Key: key, MaxSkew: 1, MinDomains: 1, Selector: apps("web")}
		for _, f := range change {
			f(&s)
		}
		return map[string]model.PodSpec{"web": {Spread: []model.Spread{s}}}
	}
	near := func(key string, names ...string) model.PodSpec {
		return model.PodSpec{PodAffinity: []model.PodTerm{{Key: key, Selector: apps(names...)}}}
	}
	apart := func(key string, names ...string) model.PodSpec {
		return model.PodSpec{PodAntiAffinity: []model.PodTerm{{Key: key, Selector: apps(names...)}}}
	}
	one := func(app string, s model.PodSpec) map[string]model.PodSpec { return map[string]model.PodSpec{app: s} }
	cases := map[string]struct {
		reason string
		scene  scene
		want   []Kind
	}{
		"even":            {"one pod in each zone", scene{specs: spread(zone), pods: []string{"web +n1", "web +n3"}}, nil},
		"uneven":          {"two and none differ by more than one", scene{specs: spread(zone), pods: []string{"web +n1", "web +n2"}}, []Kind{Spread, Spread}},
		"running count":   {"a pod that runs counts", scene{specs: spread(zone), pods: []string{"web n1", "web +n2"}}, []Kind{Spread}},
		"ending do not":   {"one that is being deleted does not", scene{specs: spread(zone), pods: []string{"web n1", "web +n2"}, ending: true}, nil},
		"others do not":   {"pods that the selector does not match do not count", scene{specs: spread(zone), pods: []string{"api n1", "web +n2"}}, nil},
		"soft":            {"preferences are not proven", scene{specs: spread(zone, func(s *model.Spread) { s.Soft = true }), pods: []string{"web +n1", "web +n2"}}, nil},
		"skew of two":     {"as much as the constraint allows", scene{specs: spread(zone, func(s *model.Spread) { s.MaxSkew = 2 }), pods: []string{"web +n1", "web +n2"}}, nil},
		"no label":        {"a node without the label takes no such pod", scene{specs: spread(zone), pods: []string{"web +n4"}}, []Kind{Spread}},
		"few domains":     {"with too few domains the least is none", scene{specs: spread(zone, func(s *model.Spread) { s.MinDomains = 3 }), pods: []string{"web n1", "web n3", "web +n1"}}, []Kind{Spread}},
		"enough domains":  {"with enough it is the emptiest", scene{specs: spread(zone, func(s *model.Spread) { s.MinDomains = 2 }), pods: []string{"web n1", "web n3", "web +n1"}}, nil},
		"new domain":      {"a planned node brings its zone along, empty", scene{specs: spread(zone), pods: []string{"web n1", "web n3", "web +n1", "api +x:c"}}, []Kind{Spread}},
		"either":          {"a node that may come up in two zones must suit in both", scene{specs: spread(zone), pods: []string{"web n1", "web +x:a,b"}}, []Kind{Spread}},
		"host names":      {"every planned node is a domain of its own", scene{specs: spread(hostnameKey), pods: []string{"web +x:a", "web +y:a", "web +n1", "web +n2", "web +n3", "web +n4"}}, nil},
		"one host":        {"two pods on one node", scene{specs: spread(hostnameKey), pods: []string{"web +x:a", "web +x:a"}}, []Kind{Spread}},
		"cordoned":        {"nodes with taints are counted", scene{specs: spread(rack), pods: []string{"web n1", "web n2", "web +n1"}, cordoned: true}, []Kind{Spread}},
		"honor taints":    {"unless the constraint honours taints", scene{specs: spread(rack, func(s *model.Spread) { s.HonorTaints = true }), pods: []string{"web n1", "web n2", "web +n1"}, cordoned: true}, nil},
		"affinity counts": {"nodes that the pod does not select are not counted", scene{specs: one("web", model.PodSpec{NodeSelector: map[string]string{zone: "a"}, Spread: spread(zone)["web"].Spread}), pods: []string{"web n1", "web +n2"}}, nil},
		"ignore affinity": {"unless the constraint ignores affinity", scene{specs: one("web", model.PodSpec{NodeSelector: map[string]string{zone: "a"}, Spread: spread(zone, func(s *model.Spread) { s.IgnoreAffinity = true })["web"].Spread}), pods: []string{"web n1", "web +n2"}}, []Kind{Spread}},
		"pinned": {
			"where its volumes are does not say which nodes are counted",
			scene{specs: one("web", model.PodSpec{Pinned: true, Affinity: []model.Term{{{Key: zone, Operator: model.In, Values: []string{"a"}}}}, Spread: spread(zone)["web"].Spread}), pods: []string{"web n1", "web +n2"}},
			[]Kind{Spread},
		},
		"both keys": {
			"nodes that lack another constraint's label are not counted",
			scene{specs: one("web", model.PodSpec{Spread: append(spread(zone)["web"].Spread, spread(rack, func(s *model.Spread) { s.MaxSkew = 9 })["web"].Spread...)}), pods: []string{"web n1", "web n3", "web +n1", "api +x:c"}},
			nil,
		},

		"beside":          {"the pod asked for runs there", scene{specs: one("web", near(zone, "db")), pods: []string{"db n1", "web +n2"}}, nil},
		"beside planned":  {"or will", scene{specs: one("web", near(zone, "db")), pods: []string{"db +x:b", "web +n3"}}, nil},
		"elsewhere":       {"it runs in another zone", scene{specs: one("web", near(zone, "db")), pods: []string{"db n3", "web +n2"}}, []Kind{Affinity}},
		"perhaps":         {"it may come up in another zone", scene{specs: one("web", near(zone, "db")), pods: []string{"db +x:a,b", "web +n2"}}, []Kind{Affinity}},
		"same node":       {"on one node the zone does not matter", scene{specs: one("web", near(zone, "db")), pods: []string{"db +x:a,b", "web +x:a,b"}}, nil},
		"nobody":          {"nobody is asked for", scene{specs: one("web", near(zone, "db")), pods: []string{"web +n2"}}, []Kind{Affinity}},
		"first":           {"the first of a self-affine kind may begin", scene{specs: one("web", near(zone, "web")), pods: []string{"web +n1", "web +n2"}}, nil},
		"two firsts":      {"but only in one zone", scene{specs: one("web", near(zone, "web")), pods: []string{"web +n1", "web +n2", "web +n3"}}, []Kind{Affinity}},
		"not the first":   {"and not beside one that runs elsewhere", scene{specs: one("web", near(zone, "web")), pods: []string{"web n3", "web +n1"}}, []Kind{Affinity}},
		"first, no label": {"nor on a node without the label", scene{specs: one("web", near(zone, "web")), pods: []string{"web +n4"}}, []Kind{Affinity}},
		"mutual affinity": {"two kinds that ask for each other never begin", scene{specs: map[string]model.PodSpec{"web": near(zone, "db"), "db": near(zone, "web")}, pods: []string{"web +n1", "db +n1"}}, []Kind{Affinity, Affinity}},
		"chain":           {"one after the other, whatever the order", scene{specs: map[string]model.PodSpec{"a": near(zone, "b"), "b": near(zone, "c")}, pods: []string{"a +n1", "b +n2", "c +n1"}}, nil},
		"half a friend": {
			"a pod that matches one of two terms counts for neither",
			scene{specs: one("web", model.PodSpec{PodAffinity: []model.PodTerm{{Key: zone, Selector: apps("db")}, {Key: zone, Selector: apps("mq")}}}), pods: []string{"db n1", "mq n1", "web +n1"}},
			[]Kind{Affinity},
		},

		"on a node that goes":  {"a pod on a node that is being deleted is nobody to rely on", scene{specs: one("web", near(zone, "db")), pods: []string{"db n3", "web +x:b"}, deleting: true}, []Kind{Affinity}},
		"beside one that goes": {"but prevents a first pod", scene{specs: one("web", near(zone, "web")), pods: []string{"web n3", "web +x:b"}, deleting: true}, []Kind{Affinity}},
		"either zone has one":  {"a friend in each zone that the node may come up in", scene{specs: one("web", near(zone, "db")), pods: []string{"db n1", "db n3", "web +x:a,b"}}, nil},
		"the other first": {
			"of two that may be first, only one order binds both: y before x",
			scene{specs: map[string]model.PodSpec{"x": near(zone, "x"), "y": near(zone, "x", "y")}, pods: []string{"x +n1", "y +n3"}},
			nil,
		},
		"no order": {
			"whoever is first, somebody is never bound",
			scene{specs: map[string]model.PodSpec{"x": near(zone, "x", "y"), "y": near(zone, "x", "y")}, pods: []string{"x +n1", "y +n3"}},
			[]Kind{Affinity},
		},
		"rescued": {
			"who cannot be first any more is bound beside a third",
			scene{specs: map[string]model.PodSpec{"x": near(zone, "x", "y"), "y": near(zone, "x", "y"), "z": near(rack, "y", "z")}, pods: []string{"x +n1", "y +n2", "z +n2"}},
			nil,
		},

		"apart":          {"one per zone", scene{specs: one("web", apart(zone, "web")), pods: []string{"web +n1", "web +n3"}}, nil},
		"together":       {"two in a zone shun each other", scene{specs: one("web", apart(zone, "web")), pods: []string{"web +n1", "web +n2"}}, []Kind{AntiAffinity, AntiAffinity}},
		"twice":          {"so do two on a node", scene{specs: one("web", apart(hostnameKey, "web")), pods: []string{"web +x:a", "web +x:a"}}, []Kind{AntiAffinity}},
		"hosts apart":    {"planned nodes have names of their own", scene{specs: one("web", apart(hostnameKey, "web")), pods: []string{"web +x:a", "web +y:a", "web n1"}}, nil},
		"with a runner":  {"a pod that runs is shunned", scene{specs: one("web", apart(zone, "db")), pods: []string{"db n1", "web +n2"}}, []Kind{AntiAffinity}},
		"ending runner":  {"also while it is being deleted", scene{specs: one("web", apart(zone, "db")), pods: []string{"db n1", "web +n2"}, ending: true}, []Kind{AntiAffinity}},
		"by a runner":    {"a pod that runs shuns, too", scene{specs: one("db", apart(zone, "web")), pods: []string{"db n1", "web +n2"}}, []Kind{AntiAffinity}},
		"by another":     {"so does a placed one", scene{specs: one("db", apart(zone, "web")), pods: []string{"db +n1", "web +n2"}}, []Kind{AntiAffinity}},
		"perhaps near":   {"a node that may come up there is too near", scene{specs: one("db", apart(zone, "web")), pods: []string{"db n1", "web +x:a,b"}}, []Kind{AntiAffinity}},
		"runners' own":   {"what runs is not the plan's", scene{specs: one("db", apart(zone, "web")), pods: []string{"db n1", "web n2", "api +n1"}}, nil},
		"without domain": {"a node without the label is near nobody", scene{specs: one("web", apart(zone, "web")), pods: []string{"web n1", "web +n4"}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, plan, c := tc.scene.plan()
			found := Plan(s, plan, c)
			var kinds []Kind
			for _, v := range found {
				kinds = append(kinds, v.Kind)
			}
			if diff := cmp.Diff(tc.want, kinds); diff != "" {
				t.Errorf("%s\n%s%v", tc.reason, diff, found)
			}
			if found := Plan(s, plan, Constraints{Pods: c.Pods, Skip: []Kind{Spread, Affinity, AntiAffinity}}); len(found) > 0 {
				t.Errorf("kinds to skip are reported: %v", found)
			}
		})
	}
}

func TestSelectorMatches(t *testing.T) {
	pod := model.PodSpec{Namespace: "ns", Labels: map[string]string{"app": "web"}}
	cases := map[string]struct {
		selector model.PodSelector
		want     bool
	}{
		"nothing":         {model.PodSelector{Nothing: true, Namespaces: []string{"ns"}}, false},
		"everything":      {model.PodSelector{Namespaces: []string{"a", "ns"}}, true},
		"other namespace": {model.PodSelector{Namespaces: []string{"a"}}, false},
		"no namespace":    {model.PodSelector{}, false},
		"label":           {apps("web"), true},
		"other label":     {apps("api"), false},
		"absent label":    {model.PodSelector{Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "x", Operator: model.NotIn, Values: []string{"1"}}}}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := selectorMatches(&tc.selector, &pod); got != tc.want {
				t.Errorf("matches: %v", got)
			}
		})
	}
}
