package badobjects

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/replay"
	"spokeshave.dev/test/kit/eventually"
)

// hooked is code inside the decision that misbehaves: a policy whose host does.
type hooked struct {
	hook        policy.Hook
	consolidate func()
	ceiling     func(*policy.CeilingInput)
}

func (h *hooked) Info() policy.Info {
	return policy.Info{Name: "hooked", Namespace: "spokeshave", Hooks: []policy.Hook{h.hook}}
}

func (*hooked) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) { return nil, nil }

func (h *hooked) Consolidate(_ context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	h.consolidate()
	return make([]policy.ConsolidateAnswer, len(in.Candidates)), nil
}

func (h *hooked) Ceiling(_ context.Context, in *policy.CeilingInput) (policy.CeilingAnswer, error) {
	h.ceiling(in)
	return policy.CeilingAnswer{}, nil
}

// panicsOn panics when a launch for pods on the instance type is reviewed.
func panicsOn(instanceType string) *hooked {
	return &hooked{hook: policy.HookCeiling, ceiling: func(in *policy.CeilingInput) {
		for i := range in.Launches {
			if in.Launches[i].InstanceType == instanceType {
				panic("no such launch")
			}
		}
	}}
}

// node creates a ready node with a claim, which is empty and may go.
func (b *bench) node(t *testing.T, name string) {
	t.Helper()
	b.create(t, fmt.Sprintf(`{"kind": "Node", "metadata": {"name": "node-%[1]s", "labels": {"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": %[2]q,
		"topology.kubernetes.io/zone": "zone-a", "karpenter.sh/capacity-type": "on-demand", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}},
		"spec": {"providerID": "aws:///zone-a/%[1]s"}}`, name, small))
	node, err := object(`{"kind": "Node"}`)
	if err != nil {
		t.Fatal(err)
	}
	b.status(t, node, "node-"+name, `{"status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "29"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	c := claim(name, "general", small)
	c.Labels["node.kubernetes.io/instance-type"], c.Labels["topology.kubernetes.io/zone"], c.Labels["karpenter.sh/capacity-type"] = small, "zone-a", "on-demand"
	if err := b.client.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var conditions []string
	for _, kind := range []string{"Launched", "Registered", "Initialized", "Consolidatable"} {
		conditions = append(conditions, fmt.Sprintf(`{"type": %q, "status": "True", "reason": "Test", "lastTransitionTime": "2020-01-01T00:00:00Z"}`, kind))
	}
	b.status(t, c, name, fmt.Sprintf(`{"status": {"providerID": "aws:///zone-a/%[1]s", "nodeName": "node-%[1]s", "conditions": [%[2]s]}}`, name, strings.Join(conditions, ",")))
}

// failed returns the records that the controller keeps of failed decisions.
func (b *bench) failed(t *testing.T) []json.RawMessage {
	t.Helper()
	answer := httptest.NewRecorder()
	b.failures.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/failures", http.NoBody))
	var out []json.RawMessage
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPanic. Actor: a tenant, whose pod leads the decision into a defect of ours. Expected:
// the pods of others get their nodes in the same round; the pod says why it waits; the
// decision is kept with its snapshot, and a replay panics in the same place; while the
// pod is held back, no decision panics again. Must not change: the controller runs.
func TestPanic(t *testing.T) {
	b := newBench(t, panicsOn(large))
	b.pod(t, "bad", "6")
	b.pod(t, "good", "1500m", `, "nodeSelector": {"node.kubernetes.io/instance-type": "m5.large"}`)
	b.round(t, 2)
	if diff := cmp.Diff(map[string]string{"good": "general"}, b.planned(t)); diff != "" {
		t.Fatalf("planned (-want +got)\n%s", diff)
	}
	if why := b.waits("bad"); !strings.Contains(why, "HeldBack: planning for the pod failed") {
		t.Errorf("the pod waits: %q", why)
	}
	for range 5 {
		b.round(t, 2)
	}
	if n := b.count(t, "spokeshave_decision_failures_total", "Panic", "provisioning"); n != 1 {
		t.Errorf("%v decisions panicked within the pause, want 1", n)
	}
	b.clock.Step(11 * time.Second)
	b.round(t, 2)
	b.round(t, 2)
	if n := b.count(t, "spokeshave_decision_failures_total", "Panic", "provisioning"); n != 2 {
		t.Errorf("%v decisions panicked after the pause, want 2", n)
	}
	var records []json.RawMessage
	eventually.True(t, "the decision is kept", func() bool {
		records = b.failed(t)
		return len(records) > 0
	})
	if len(records) != 1 {
		t.Fatalf("%d records of one failure", len(records))
	}
	path := filepath.Join(t.TempDir(), "failed.json")
	if err := os.WriteFile(path, records[0], 0o600); err != nil {
		t.Fatal(err)
	}
	recorded, err := replay.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(recorded[0].Stacks) != 1 || !strings.Contains(recorded[0].Stacks[0], "faults_test.go") {
		t.Errorf("the record's stacks do not show the defect: %q", recorded[0].Stacks)
	}
	if s, err := recorded[0].Unpack(); err != nil || len(s.Pods) != 2 {
		t.Errorf("the record's snapshot: %v", err)
	}
}

// TestPanicInDisruption. Actor: a node that leads the search for nodes to remove into a
// defect. Expected: pods get their nodes; nothing is disrupted for a while, and then it
// is tried again.
func TestPanicInDisruption(t *testing.T) {
	asked := 0
	b := newBench(t, &hooked{hook: policy.HookConsolidate, consolidate: func() {
		asked++
		panic("no such node")
	}})
	b.node(t, "old")
	b.pod(t, "more", "6")
	eventually.Ok(t, "the pod has a node", func() (string, bool) {
		b.round(t, 1)
		return fmt.Sprint(b.planned(t), b.waits("more")), b.planned(t)["more"] == "general" && asked > 0
	})
	before := asked
	for range 5 {
		b.round(t, 1)
	}
	if asked != before {
		t.Errorf("the part that panics was run %d times within the pause", asked-before)
	}
	b.clock.Step(time.Minute)
	b.round(t, 1)
	if asked == before {
		t.Error("the part that panics was not tried again")
	}
	if n := b.count(t, "spokeshave_decision_failures_total", "Panic", "disruption"); n < 2 {
		t.Errorf("%v failures were counted", n)
	}
}

// TestHang. Actor: a decision that never ends. Expected: the loop says for how long it has
// been at it, which ends the controller (controller/app TestStuckLoop); while it waits for
// work it says nothing.
func TestHang(t *testing.T) {
	release := make(chan struct{})
	b := newBench(t, &hooked{hook: policy.HookCeiling, ceiling: func(*policy.CeilingInput) { <-release }})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.loop.Start(ctx) }()
	b.pod(t, "a", "1")
	b.loop.Wake()
	eventually.True(t, "the loop is stuck", func() bool { return b.loop.Busy() > 2*time.Second })
	close(release)
	eventually.True(t, "the loop is free again", func() bool { return b.planned(t)["a"] == "general" && b.loop.Busy() == 0 })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestRefusedNode. Actor: a platform team, whose admission policy keeps one node from
// being changed. Expected: the other empty nodes go, and the one says why it stays. Must
// not change: the loop does not fail.
func TestRefusedNode(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a", "b", "c"} {
		b.node(t, name)
	}
	probe, err := object(`{"kind": "Node", "metadata": {"name": "node-a"}}`)
	if err != nil {
		t.Fatal(err)
	}
	b.refuse(t, "nodes", "UPDATE", `object.metadata.name != "node-a"`, probe)
	gone := func() []string {
		var out []string
		for _, name := range []string{"a", "b", "c"} {
			if c := claim(name, "general", small); b.deleted(t, c) {
				out = append(out, name)
			}
		}
		return out
	}
	eventually.Ok(t, "the other nodes go", func() (string, bool) {
		b.round(t, 0)
		return fmt.Sprint(gone()), slices.Equal(gone(), []string{"b", "c"})
	})
	if !slices.ContainsFunc(b.told(), func(e string) bool { return strings.Contains(e, "the platform team says no") }) {
		t.Error("no event says why the node stays")
	}
}

// TestOverwrittenMark. Actor: somebody with kubectl, who removes the mark of a disruption
// that has just begun. Expected: the next rounds are made as ever.
func TestOverwrittenMark(t *testing.T) {
	b := newBench(t)
	b.node(t, "a")
	b.pod(t, "p", "1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.view.WaitFor(ctx, wrote("a")); err != nil {
		t.Errorf("a mark that is gone is waited for: %v", err)
	}
}
