package adoption

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/test/kit/karpenter"
)

// waiting are recorded claims that wait for startup taints to go, which nobody takes off.
var waiting = []string{"startup-sdsmd", "everything-bpn2b"}

// marked is a claim whose disruption had begun when Karpenter ended.
const marked = "limits-r9jft"

// inFlight is a claim that Karpenter had not launched, because EC2 refused. lost is one
// that it had launched when it ended, without having written so.
const (
	inFlight = "labels-7ztv6"
	lost     = "labels-lost"
)

// TestSwap goes through a swap in both directions, step by step.
func TestSwap(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if err := errors.Join(karpenter.Install(t.Context(), stack), karpenter.Restore(t.Context(), stack)); err != nil {
		t.Fatal(err)
	}
	loseLaunch(t)
	loseDisruption(t)
	before := take(t)
	if len(before.claims) != 18 || len(before.instances) != 17 {
		t.Fatalf("%d claims and %d instances were put back, want 18 and 17", len(before.claims), len(before.instances))
	}
	steps := []struct {
		name string
		run  func(*testing.T, *state)
	}{
		{"the page: there", there},
		{"nothing moves", nothingMoves},
		{"the page: look", healthy},
		{"a standalone claim", standalone},
		{"changed templates", roll},
		{"back again", back},
		{"the page: back", home},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.run(t, before) }) {
			return
		}
	}
}

// loseLaunch makes a claim of Karpenter's whose instance runs, and that does not know.
func loseLaunch(t *testing.T) {
	t.Helper()
	pool := &karpv1.NodePool{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: "labels"}, pool); err != nil {
		t.Fatal(err)
	}
	known := &karpv1.NodeClaim{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: inFlight}, known); err != nil {
		t.Fatal(err)
	}
	claim := &karpv1.NodeClaim{Spec: *known.Spec.DeepCopy()}
	claim.Name, claim.Labels, claim.Annotations = lost, known.Labels, known.Annotations
	claim.Finalizers, claim.OwnerReferences = known.Finalizers, known.OwnerReferences
	if err := stack.Client.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	machines, err := karpenter.Machines()
	if err != nil {
		t.Fatal(err)
	}
	boot, err := karpenter.UserData()
	if err != nil {
		t.Fatal(err)
	}
	like := machines[1]
	like.Type, like.Tags = "c6g.12xlarge", maps.Clone(like.Tags)
	like.Tags["karpenter.sh/nodeclaim"], like.Tags["karpenter.sh/nodepool"] = lost, "labels"
	if _, _, err := karpenter.Launch(t.Context(), stack, &like, boot); err != nil {
		t.Fatal(err)
	}
}

// loseDisruption marks a node as Karpenter does before it disrupts one. Its queue was in
// memory: nobody goes on with it.
func loseDisruption(t *testing.T) {
	t.Helper()
	claim, node := &karpv1.NodeClaim{}, &corev1.Node{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: marked}, claim); err != nil {
		t.Fatal(err)
	}
	base := claim.DeepCopy()
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionDisruptionReason)
	if err := stack.Client.Status().Patch(t.Context(), claim, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: claim.Status.NodeName}, node); err != nil {
		t.Fatal(err)
	}
	before := node.DeepCopy()
	node.Spec.Taints = append(node.Spec.Taints, karpv1.DisruptedTaint())
	if err := stack.Client.Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// state is what a swap may not move.
type state struct {
	claims, nodes map[string]bool
	instances     map[string]bool
}

func take(t *testing.T) *state {
	t.Helper()
	s := &state{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	if err := stack.Client.List(t.Context(), &claims); err != nil {
		t.Fatal(err)
	}
	if err := stack.Client.List(t.Context(), &nodes, client.HasLabels{karpv1.LabelNodePool}); err != nil {
		t.Fatal(err)
	}
	instances, err := stack.Instances(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims.Items {
		s.claims[claims.Items[i].Name] = true
	}
	for i := range nodes.Items {
		s.nodes[nodes.Items[i].Name] = true
	}
	for i := range instances {
		s.instances[instances[i].ID] = true
	}
	return s
}

// start waits until the controller leads that the page's commands have installed.
func start(t *testing.T) {
	t.Helper()
	wait(t, "the controller to lead", time.Minute, func(ctx context.Context) (string, bool) {
		if runs, err := stack.AsDeployed(ctx); !runs || err != nil {
			return fmt.Sprintf("the controller runs: %t, %v", runs, err), false
		}
		return stack.Leads(ctx)
	})
}

// nothingMoves: claims in flight go on to their end, with one instance for the one that
// had none; nothing else is launched, ended, tainted or drifted.
func nothingMoves(t *testing.T, before *state) {
	start(t)
	wait(t, "claims in flight to go on", 2*time.Minute, func(ctx context.Context) (string, bool) {
		return initialized(ctx, inFlight, lost)
	})
	wait(t, "the node whose disruption was begun to be free", time.Minute, func(ctx context.Context) (string, bool) {
		claim, node := &karpv1.NodeClaim{}, &corev1.Node{}
		if err := stack.Client.Get(ctx, client.ObjectKey{Name: marked}, claim); err != nil {
			return err.Error(), false
		}
		if err := stack.Client.Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, node); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%v, %s", node.Spec.Taints, told(claim)),
			!slices.ContainsFunc(node.Spec.Taints, ofControllers) && !meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionDisruptionReason)
	})
	err := stack.Holds(t.Context(), "the adopted cluster", 30*time.Second, func(ctx context.Context) (string, bool) { return before.unmoved(ctx, 1) })
	if err != nil {
		t.Fatal(err)
	}
}

// initialized reports whether the claims are.
func initialized(ctx context.Context, names ...string) (string, bool) {
	text, ok := "", true
	for _, name := range names {
		claim := &karpv1.NodeClaim{}
		if err := stack.Client.Get(ctx, client.ObjectKey{Name: name}, claim); err != nil {
			return err.Error(), false
		}
		done := meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionInitialized)
		ok = ok && done
		if !done {
			text += fmt.Sprintf("%s: %s\n", name, told(claim))
		}
	}
	return text, ok
}

func told(claim *karpv1.NodeClaim) string {
	var out []string
	for _, c := range claim.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s (%s %s)", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, ", ")
}

// unmoved says what has moved. more is how many instances may have come.
func (s *state) unmoved(ctx context.Context, more int) (string, bool) {
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	instances, err := stack.Instances(ctx)
	if err != nil {
		return err.Error(), false
	}
	if err := stack.Client.List(ctx, &claims); err != nil {
		return err.Error(), false
	}
	if err := stack.Client.List(ctx, &nodes, client.HasLabels{karpv1.LabelNodePool}); err != nil {
		return err.Error(), false
	}
	var moved []string
	there := map[string]bool{}
	for i := range instances {
		there[instances[i].ID] = instances[i].State == "running"
	}
	for id := range s.instances {
		if !there[id] {
			moved = append(moved, "instance "+id+" is gone")
		}
	}
	if n := len(instances) - len(s.instances); n > more {
		moved = append(moved, fmt.Sprintf("%d instances were launched", n))
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		if !s.claims[c.Name] {
			moved = append(moved, "claim "+c.Name+" was made")
		}
		if !c.DeletionTimestamp.IsZero() || meta.IsStatusConditionTrue(c.Status.Conditions, karpv1.ConditionDrifted) {
			moved = append(moved, fmt.Sprintf("claim %s is deleted or has drifted: %s", c.Name, told(c)))
		}
		if stays := !slices.Contains(waiting, c.Name); stays != meta.IsStatusConditionTrue(c.Status.Conditions, karpv1.ConditionReady) {
			moved = append(moved, fmt.Sprintf("claim %s: %s", c.Name, told(c)))
		}
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Spec.Unschedulable || slices.ContainsFunc(n.Spec.Taints, ofControllers) {
			moved = append(moved, fmt.Sprintf("node %s has taints %v", n.Name, n.Spec.Taints))
		}
		if !n.DeletionTimestamp.IsZero() {
			moved = append(moved, "node "+n.Name+" is deleted")
		}
	}
	if len(claims.Items) < len(s.claims) {
		moved = append(moved, fmt.Sprintf("%d claims of %d are left", len(claims.Items), len(s.claims)))
	}
	return strings.Join(moved, "\n"), len(moved) == 0
}

// ofControllers are taints with which Karpenter or this controller keeps pods away.
func ofControllers(taint corev1.Taint) bool {
	return strings.HasPrefix(taint.Key, "karpenter.sh/") || strings.HasPrefix(taint.Key, karpv1.Domain+"/")
}

// wait waits for a check.
func wait(t *testing.T, what string, within time.Duration, check func(context.Context) (string, bool)) {
	t.Helper()
	if err := stack.Until(t.Context(), what, within, check); err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T) {
	t.Helper()
	if err := stack.StopController(t.Context(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}
