package spend

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestNamespaceInFlight: what a namespace has committed is never less than what
// it may be billed, whichever other pods are planned on the same nodes.
func TestNamespaceInFlight(t *testing.T) {
	const wide, deep, small = 0, 1, 2 // specs: three quarters of the CPU, of the memory, an eighth of both
	specs := []model.PodSpec{
		{Requests: model.Resources{"cpu": 3_000, "memory": 1_000}},
		{Requests: model.Resources{"cpu": 1_000, "memory": 3_000}},
		{Requests: model.Resources{"cpu": 500, "memory": 500}},
	}
	size := model.Resources{"cpu": 4_000, "memory": 4_000}
	node := func(name string, change func(*model.Node)) model.Node {
		n := model.Node{Name: name, Claim: name, Pool: 0, State: model.Initialized, Price: 1_000_000, Allocatable: size, LaunchedAt: start}
		if change != nil {
			change(&n)
		}
		return n
	}
	flying := func(n *model.Node) { n.State, n.Price, n.Reserved = model.InFlight, 0, 1_000_000 }
	going := func(n *model.Node) { n.State = model.Deleting }
	pod := func(namespace string, spec, at int32) model.Pod {
		return model.Pod{Namespace: namespace, Name: "p", Spec: spec, Node: at}
	}
	for name, tc := range map[string]struct {
		reason   string
		nodes    []model.Node
		pods     []model.Pod
		moves    []model.Move
		running  model.Price
		inFlight model.Price
	}{
		"alone in flight": {
			reason: "three quarters of the worst price, rounded up",
			nodes:  []model.Node{node("a", flying)}, pods: []model.Pod{pod("shop", wide, 0)}, moves: []model.Move{{Pod: 0, From: -1, To: 0}},
			inFlight: 750_001,
		},
		"not made smaller by others": {
			reason: "shares of 3/4 and 3/4 are half a node each once both are there, but the other may find room elsewhere, and where the size is not known, what is planned stands for it",
			nodes:  []model.Node{node("a", flying)}, pods: []model.Pod{pod("shop", wide, 0), pod("batch", deep, 0)},
			moves:    []model.Move{{Pod: 0, From: -1, To: 0}, {Pod: 1, From: -1, To: 0}},
			inFlight: 750_001,
		},
		"no more than the node": {
			reason: "two of its own pods hold the whole",
			nodes:  []model.Node{node("a", flying)}, pods: []model.Pod{pod("shop", wide, 0), pod("shop", deep, 0)},
			moves:    []model.Move{{Pod: 0, From: -1, To: 0}, {Pod: 1, From: -1, To: 0}},
			inFlight: 1_000_000,
		},
		"more of its own come": {
			reason: "three quarters of the node are its own already: a quarter is left to hold",
			nodes:  []model.Node{node("a", nil)}, pods: []model.Pod{pod("shop", wide, 0), pod("shop", deep, 0)},
			moves:   []model.Move{{Pod: 1, From: -1, To: 0}},
			running: 1_000_000,
		},
		"more of its own move": {
			reason:  "as above, and what they hold elsewhere they leave",
			nodes:   []model.Node{node("a", nil), node("b", func(n *model.Node) { going(n); n.Price = 100_000 })},
			pods:    []model.Pod{pod("shop", wide, 0), pod("shop", deep, 0)},
			moves:   []model.Move{{Pod: 1, From: 1, To: 0}},
			running: 825_000, inFlight: 175_000 - 1,
		},
		"both there": {
			reason: "who is on the node pays for it: half each",
			nodes:  []model.Node{node("a", nil)}, pods: []model.Pod{pod("shop", wide, 0), pod("batch", deep, 0)},
			running: 500_000,
		},
		"other is planned": {
			reason: "a pod that is not there yet does not pay",
			nodes:  []model.Node{node("a", nil), node("b", going)}, pods: []model.Pod{pod("shop", wide, 0), pod("batch", deep, 0)},
			moves:   []model.Move{{Pod: 1, From: 1, To: 0}},
			running: 750_000,
		},
		"other waits to come": {
			reason: "of the node it pays half, were both there; until then it holds three quarters",
			nodes:  []model.Node{node("a", nil)}, pods: []model.Pod{pod("shop", wide, 0), pod("batch", deep, 0)},
			moves:   []model.Move{{Pod: 1, From: -1, To: 0}},
			running: 500_000, inFlight: 250_000,
		},
		"moving to a dearer node": {
			reason: "the pod is counted once, and the difference is in flight",
			nodes:  []model.Node{node("a", flying), node("b", func(n *model.Node) { going(n); n.Price = 400_000 })},
			pods:   []model.Pod{pod("shop", wide, 0)}, moves: []model.Move{{Pod: 0, From: 1, To: 0}},
			running: 300_000, inFlight: 450_000,
		},
		"moving to a cheaper node": {
			reason: "until it has moved the pod is paid for where it is",
			nodes:  []model.Node{node("a", func(n *model.Node) { flying(n); n.Reserved = 200_000 }), node("b", going)},
			pods:   []model.Pod{pod("shop", wide, 0)}, moves: []model.Move{{Pod: 0, From: 1, To: 0}},
			running: 750_000,
		},
		"being replaced": {
			reason: "plans count the pod where it is as long as its node stays; the replacement may cost it more",
			nodes:  []model.Node{node("a", func(n *model.Node) { n.Price = 400_000 }), node("b", flying)},
			pods:   []model.Pod{pod("shop", wide, 0)}, moves: []model.Move{{Pod: 0, From: 0, To: 1}},
			running: 300_000, inFlight: 450_000,
		},
		"interrupted": {
			reason: "a node that EC2 takes back has left the sum, and what comes in its stead counts",
			nodes:  []model.Node{node("a", flying), node("b", func(n *model.Node) { going(n); n.Noticed = true })},
			pods:   []model.Pod{pod("shop", wide, 0), pod("shop", small, 1)}, moves: []model.Move{{Pod: 0, From: 1, To: 0}},
			inFlight: 750_001,
		},
		"daemon": {
			reason:  "pods of DaemonSets belong to no namespace, and take their part",
			nodes:   []model.Node{node("a", nil)},
			pods:    []model.Pod{pod("shop", wide, 0), {Namespace: "shop", Name: "d", Spec: deep, Node: 0, Daemon: true}},
			running: 500_000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{Time: start, Pools: []model.Pool{{Name: "general", Catalog: -1}}, Specs: specs, Nodes: tc.nodes, Pods: tc.pods, Moves: tc.moves}
			if err := s.Verify(); err != nil {
				t.Fatal(err)
			}
			got := *namespaces(s)["namespace/shop"]
			if diff := cmp.Diff([]model.Price{tc.running, tc.inFlight}, []model.Price{got.Running, got.InFlight}); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
