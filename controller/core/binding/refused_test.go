package binding_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/binding"
	"spokeshave.dev/controller/core/model"
)

const zone, host = "topology.kubernetes.io/zone", "kubernetes.io/hostname"

// cluster is a snapshot in the making. Each node is named by its zone: of "a", "a" and
// "b", nodes 0 and 1 are in zone a.
type cluster struct {
	s       model.Snapshot
	waiting []int32
}

func newCluster(zones ...string) *cluster {
	c := &cluster{}
	for i, z := range zones {
		n := model.Node{Name: strconv.Itoa(i), State: model.Initialized, Labels: map[string]string{host: strconv.Itoa(i)}}
		if z != "" {
			n.Labels[zone] = z
		}
		c.s.Nodes = append(c.s.Nodes, n)
	}
	return c
}

func selecting(app string) model.PodSelector {
	return model.PodSelector{Namespaces: []string{"shop"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{app}}}}
}

// spec adds the spec of an app and returns its index.
func (c *cluster) spec(app string, change ...func(*model.PodSpec)) int32 {
	s := model.PodSpec{Namespace: "shop", Labels: map[string]string{"app": app}}
	for _, f := range change {
		f(&s)
	}
	c.s.Specs = append(c.s.Specs, s)
	return int32(len(c.s.Specs) - 1)
}

func spread(key, app string, skew int32) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.Spread = append(s.Spread, model.Spread{Key: key, MaxSkew: skew, MinDomains: 1, Selector: selecting(app)})
	}
}

func apart(app string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAntiAffinity = append(s.PodAntiAffinity, model.PodTerm{Key: host, Selector: selecting(app)})
	}
}

func near(app string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAffinity = append(s.PodAffinity, model.PodTerm{Key: zone, Selector: selecting(app)})
	}
}

// runs adds pods that are bound.
func (c *cluster) runs(spec int32, nodes ...int32) {
	for _, n := range nodes {
		c.s.Pods = append(c.s.Pods, model.Pod{Spec: spec, Node: n})
	}
}

// waits adds pods that wait for their nodes.
func (c *cluster) waits(spec int32, nodes ...int32) {
	for _, n := range nodes {
		c.waiting = append(c.waiting, int32(len(c.s.Pods)))
		c.s.Pods = append(c.s.Pods, model.Pod{Spec: spec, Node: n})
	}
}

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		zones  []string
		build  func(c *cluster)
		want   []int32 // indices of pods
	}{
		"free": {reason: "no rule", zones: []string{"a"}, build: func(c *cluster) { c.waits(c.spec("web"), 0) }},
		"skew": {reason: "two are bound in zone a, one was planned for b", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1))
			c.runs(web, 0)
			c.waits(web, 0)
		}, want: []int32{1}},
		"in order": {reason: "the pod in zone b comes first", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1))
			c.runs(web, 0)
			c.waits(web, 0, 1)
		}},
		"in flight": {reason: "the pod in zone b comes once its node does", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1))
			c.s.Nodes[1].State = model.InFlight
			c.runs(web, 0)
			c.waits(web, 0, 1)
		}},
		"no node yet": {reason: "the scheduler sees no zone b", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1))
			c.s.Nodes[1].State = model.InFlight
			c.runs(web, 0)
			c.waits(web, 0)
		}},
		"another app": {reason: "the constraint counts others", zones: []string{"a", "b"}, build: func(c *cluster) {
			c.runs(c.spec("api"), 0, 0)
			c.waits(c.spec("web", spread(zone, "web", 1)), 0)
		}},
		"soft": {reason: "ScheduleAnyway forbids nothing", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) { s.Spread[0].Soft = true })
			c.runs(web, 0)
			c.waits(web, 0)
		}},
		"zone not counted": {reason: "the pod's node selector leaves zone b out", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) { s.NodeSelector = map[string]string{zone: "a"} })
			c.runs(web, 0)
			c.waits(web, 0)
		}},
		"zone counted": {reason: "nodeAffinityPolicy: Ignore", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) {
				s.NodeSelector, s.Spread[0].IgnoreAffinity = map[string]string{zone: "a"}, true
			})
			c.runs(web, 0)
			c.waits(web, 0)
		}, want: []int32{1}},
		"tainted": {reason: "nodeTaintsPolicy: Honor leaves out the node in zone b", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) { s.Spread[0].HonorTaints = true })
			c.s.Nodes[1].Taints = []model.Taint{{Key: "team", Effect: model.NoSchedule}}
			c.runs(web, 0)
			c.waits(web, 0)
		}},
		"pinned": {reason: "the zone of a volume is no affinity", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) {
				s.Pinned, s.Affinity = true, []model.Term{{{Key: zone, Operator: model.In, Values: []string{"a"}}}}
			})
			c.runs(web, 0)
			c.waits(web, 0)
		}, want: []int32{1}},
		"two keys": {reason: "a node without one of the keys does not count", zones: []string{"a", "b", "c"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), spread(host, "web", 5))
			delete(c.s.Nodes[1].Labels, host)
			c.runs(web, 0, 2)
			c.waits(web, 0)
		}},
		"too few domains": {reason: "with fewer than minDomains the least is 0", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) { s.Spread[0].MinDomains = 3 })
			c.runs(web, 0, 1)
			c.waits(web, 0)
		}, want: []int32{2}},
		"ending": {reason: "a pod that ends is not counted", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1))
			c.runs(web, 0)
			c.s.Pods[0].Ending = true
			c.waits(web, 0)
		}},
		"leaving": {reason: "the pod in zone b may be gone, or not: nothing is certain", zones: []string{"a", "b"}, build: func(c *cluster) {
			web := c.spec("web", spread(zone, "web", 1))
			c.s.Nodes[1].State = model.Deleting
			c.runs(web, 0, 1)
			c.waits(web, 0)
		}},
		"excluded": {reason: "a pod that it must not meet runs on the node", zones: []string{"a"}, build: func(c *cluster) {
			c.runs(c.spec("db"), 0)
			c.waits(c.spec("web", apart("db")), 0)
		}, want: []int32{1}},
		"excluding": {reason: "a pod on the node wants none like it", zones: []string{"a"}, build: func(c *cluster) {
			c.runs(c.spec("db", apart("web")), 0)
			c.waits(c.spec("web"), 0)
		}, want: []int32{1}},
		"next door": {reason: "it runs on another node", zones: []string{"a", "a"}, build: func(c *cluster) {
			c.runs(c.spec("db", apart("web")), 1)
			c.waits(c.spec("web"), 0)
		}},
		"two specs": {reason: "equal constraints of two specs count the same pods", zones: []string{"a", "b"}, build: func(c *cluster) {
			one := c.spec("web", spread(zone, "web", 1))
			two := c.spec("web", spread(zone, "web", 1), func(s *model.PodSpec) { s.Priority = 1 })
			c.runs(two, 0)
			c.waits(one, 0)
			c.waits(two, 1, 0)
		}, want: []int32{1}},
		"excluding, two specs": {reason: "either of them keeps the pod away", zones: []string{"a", "a"}, build: func(c *cluster) {
			c.runs(c.spec("db", apart("web")), 0)
			c.runs(c.spec("queue", apart("web")), 1)
			c.waits(c.spec("web"), 0, 1)
		}, want: []int32{2, 3}},
		"alone": {reason: "the pod that it wants near was bound in zone b", zones: []string{"a", "b"}, build: func(c *cluster) {
			c.runs(c.spec("db"), 1)
			c.waits(c.spec("web", near("db")), 0)
		}, want: []int32{1}},
		"joined": {reason: "the pod that it wants near waits for the same zone", zones: []string{"a", "b"}, build: func(c *cluster) {
			c.waits(c.spec("web", near("db")), 0)
			c.waits(c.spec("db"), 0)
		}},
		"first": {reason: "the first of its kind needs nobody", zones: []string{"a"}, build: func(c *cluster) {
			c.waits(c.spec("web", near("web")), 0)
		}},
		"no label": {reason: "the zone of the node is not known", zones: []string{"", "b"}, build: func(c *cluster) {
			c.waits(c.spec("web", spread(zone, "web", 1), near("db")), 0)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(tc.zones...)
			tc.build(c)
			if diff := cmp.Diff(tc.want, binding.Refused(&c.s, c.waiting), cmp.Transformer("", func(in []int32) []int32 { return append([]int32{}, in...) })); diff != "" {
				t.Errorf("%s: refused (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEveryOrder tries every order of binding on random clusters whose pods are spread over
// zones: as many pods are refused as the best order leaves.
func TestEveryOrder(t *testing.T) {
	refused, bound := 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 7))
		c := newCluster("a", "b", "c")
		for _, app := range []string{"web", "api"} {
			c.spec(app, spread(zone, app, 1+r.Int32N(2)))
		}
		for range r.IntN(4) {
			c.runs(r.Int32N(2), r.Int32N(3))
		}
		for range 1 + r.IntN(5) {
			c.waits(r.Int32N(2), r.Int32N(3))
		}
		got := len(binding.Refused(&c.s, c.waiting))
		if want := c.least(0, map[int]bool{}); got != want {
			t.Fatalf("seed %d: %d pods refused, the best order leaves %d", seed, got, want)
		}
		refused += got
		bound += len(c.waiting) - got
	}
	if refused < 100 || bound < 100 {
		t.Errorf("%d refused, %d bound: too few to tell", refused, bound)
	}
}

// least returns how many waiting pods the best order of binding leaves. done are those that
// are bound, as bits.
func (c *cluster) least(done int, seen map[int]bool) int {
	out := len(c.waiting) - bits.OnesCount(uint(done))
	seen[done] = true
	for k, i := range c.waiting {
		if next := done | 1<<k; next != done && !seen[next] && c.mayBind(i, done) {
			out = min(out, c.least(next, seen))
		}
	}
	return out
}

// mayBind counts the pods of each zone anew.
func (c *cluster) mayBind(i int32, done int) bool {
	p := &c.s.Pods[i]
	spec := &c.s.Specs[p.Spec]
	rule := &spec.Spread[0]
	counts := make([]int, len(c.s.Nodes))
	for j := range c.s.Pods {
		other := &c.s.Pods[j]
		if k := slices.Index(c.waiting, int32(j)); k >= 0 && done>>k&1 == 0 {
			continue
		}
		if s := &c.s.Specs[other.Spec]; rule.Selector.Matches(s.Namespace, s.Labels) {
			counts[other.Node]++
		}
	}
	after := counts[p.Node]
	if rule.Selector.Matches(spec.Namespace, spec.Labels) {
		after++
	}
	return after-slices.Min(counts) <= int(rule.MaxSkew)
}

// BenchmarkRefused has 5,000 pods of 2,500 specs on 1,000 nodes in four zones. A fifth of them
// is kept apart on hosts, a fifth is spread over zones; 200 wait.
func BenchmarkRefused(b *testing.B) {
	zones := make([]string, 1000)
	for i := range zones {
		zones[i] = string(rune('a' + i%4))
	}
	c := newCluster(zones...)
	for i := range 2500 {
		var spec int32
		switch app := strconv.Itoa(i % 700); i % 5 {
		case 0:
			spec = c.spec("apart", apart("apart"), func(s *model.PodSpec) { s.Priority = int32(i) })
		case 1:
			spec = c.spec(app, spread(zone, app, 1))
		default:
			spec = c.spec(app)
		}
		c.runs(spec, int32(i%1000))
		if i%25 < 2 {
			c.waits(spec, int32(i*7%1000))
		} else {
			c.runs(spec, int32(i*3%1000))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		binding.Refused(&c.s, c.waiting)
	}
}
