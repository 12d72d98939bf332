package actuate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
)

// meeting makes the requests of a round wait for one another. One that comes alone fails
// after 20 seconds.
type meeting struct {
	mu sync.Mutex
	// rounds are how many requests the next rounds have.
	rounds  []int
	waiting []chan struct{}
}

func (m *meeting) meet(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	all := make(chan struct{})
	m.mu.Lock()
	m.waiting = append(m.waiting, all)
	if len(m.rounds) > 0 && len(m.waiting) == m.rounds[0] {
		for _, each := range m.waiting {
			close(each)
		}
		m.waiting, m.rounds = nil, m.rounds[1:]
	}
	m.mu.Unlock()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// together is a client whose patches and deletions meet; those of status do not.
type together struct {
	client.Client
	*meeting
}

func (c *together) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if err := c.meet(ctx); err != nil {
		return err
	}
	return c.Client.Patch(ctx, o, p, opts...)
}

func (c *together) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	if err := c.meet(ctx); err != nil {
		return err
	}
	return c.Client.Delete(ctx, o, opts...)
}

// TestDisruptAtOnce: of many nodes that go, none waits for the answers about the others. One after
// the other, all would fail here. A command is written on all of its claims before a node is tainted.
func TestDisruptAtOnce(t *testing.T) {
	c := connect(t)
	const n = 16 + 2
	s := &model.Snapshot{Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	var all []int32
	var nodes, claims []string
	for i := range n {
		node, claim := fmt.Sprint("node-", i), fmt.Sprint("claim-", i)
		machine(t, c, node, claim)
		s.Nodes = append(s.Nodes, model.Node{Name: node, Claim: claim, State: model.Initialized})
		all, nodes, claims = append(all, int32(i)), append(nodes, node), append(claims, claim)
	}
	command := func(stage decide.Stage) *decide.Decision {
		return &decide.Decision{ID: "d", Commands: []decide.Command{{Stage: stage, Method: disrupt.Underutilized, Nodes: all}}}
	}
	underWay := &model.Command{ID: "d-0", Nodes: claims}
	empty := &decide.Decision{ID: "e"}
	for _, i := range all {
		empty.Disruptions = append(empty.Disruptions, decide.Disruption{Node: i, Method: disrupt.Empty, Go: true})
	}
	for _, tc := range []struct {
		reason   string
		decision *decide.Decision
		tainted  bool
		command  *model.Command // that is under way
		rounds   []int
		want     cluster.Change
	}{
		{"empty nodes are tainted", empty, false, nil, []int{16, 2}, cluster.Change{Tainted: nodes}},
		{"they stay after all", &decide.Decision{ID: "f"}, true, nil, []int{16, 2}, cluster.Change{Untainted: nodes}},
		{"a command begins: marks, then taints", command(decide.Start), false, nil, []int{16, 2, 16, 2}, cluster.Change{Marked: claims, Tainted: nodes}},
		{"it is undone: taints, then marks", command(decide.Undo), true, underWay, []int{16, 2, 16, 2}, cluster.Change{Untainted: nodes, Unmarked: claims}},
		{"it ends: claims are deleted", command(decide.Finish), true, underWay, []int{16, 2}, cluster.Change{Deleted: claims}},
	} {
		for i := range s.Nodes {
			s.Nodes[i].Taints, s.Nodes[i].Command = nil, tc.command
			if tc.tainted {
				s.Nodes[i].Taints = []model.Taint{{Key: karpv1.TaintKeyDisrupted, Effect: model.NoSchedule}}
			}
		}
		m, told := &meeting{rounds: tc.rounds}, new(heard)
		a := &actuate.Actuator{Client: &together{c, m}, Reporter: &actuate.Reporter{Client: c, Events: told, Unmerged: told}}
		done, err := a.Disrupt(t.Context(), s, tc.decision)
		if err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		more, err := a.Command(t.Context(), s, nil, tc.decision)
		if err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		done.Add(&more)
		if diff := cmp.Diff(tc.want, done); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		if len(m.rounds) > 0 {
			t.Errorf("%s: rounds %v did not come", tc.reason, m.rounds)
		}
	}
	left := &karpv1.NodeClaimList{}
	if err := c.List(t.Context(), left); err != nil || len(left.Items) > 0 {
		t.Errorf("claims left: %d, %v", len(left.Items), err)
	}
	list := &corev1.NodeList{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if taints := list.Items[i].Spec.Taints; slices.ContainsFunc(taints, func(x corev1.Taint) bool { return x.Key == karpv1.TaintKeyDisrupted }) {
			t.Errorf("%s has taints %v", list.Items[i].Name, taints)
		}
	}
}
