package restart

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/eventually"
)

// clusters is how many cases of TestRestart run at the same time.
const clusters = 2

// TestRestart: whichever write the controller dies at, the next one ends what was
// begun, or begins it anew: one small node is left of two large ones, and one
// machine was launched for it.
func TestRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	t.Parallel()
	cases := map[string]struct {
		reason string
		at     *death
	}{
		"never":                {reason: "nobody dies", at: nil},
		"before the mark":      {reason: "nothing has happened yet", at: &death{verb: "patch", kind: "NodeClaim", old: true}},
		"between marks":        {reason: "one of two claims says what is under way", at: &death{verb: "patch", kind: "NodeClaim", old: true, nth: 2}},
		"between taints":       {reason: "one of two nodes is tainted", at: &death{verb: "patch", kind: "Node", old: true, nth: 2}},
		"before the claim":     {reason: "the replacement does not exist", at: &death{verb: "create", kind: "NodeClaim"}},
		"after the claim":      {reason: "nobody knows that it exists", at: &death{verb: "create", kind: "NodeClaim", after: true}},
		"after the launch":     {reason: "the machine runs, and its claim does not say so", at: &death{verb: "status", kind: "NodeClaim"}},
		"before the node":      {reason: "the replacement's node was not adopted", at: &death{verb: "patch", kind: "Node"}},
		"after initialization": {reason: "the replacement is ready, and nobody acted on it", at: &death{verb: "delete", kind: "NodeClaim", old: true}},
		"between deletions":    {reason: "one of two claims is deleted", at: &death{verb: "delete", kind: "NodeClaim", old: true, nth: 2}},
		"during the drain":     {reason: "a pod was evicted and the answer lost", at: &death{verb: "evict", kind: "Pod", after: true}},
		"between drains":       {reason: "the second node still has its pod", at: &death{verb: "evict", kind: "Pod", nth: 2}},
	}
	// Most of a case is waiting. Each of the clusters takes one case after the other.
	free := make(chan *bareCluster, clusters)
	for range clusters {
		free <- newCluster(t)
	}
	round := 0
	for name, tc := range cases {
		round++
		number := round
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := <-free
			defer func() { free <- w }()
			w.restarted(t, fmt.Sprint("old-", number), tc.at, tc.reason)
		})
	}
}

func (w *bareCluster) restarted(t *testing.T, prefix string, at *death, reason string) {
	l := w.live(t, nil)
	w.claim(t, prefix+"-a")
	w.claim(t, prefix+"-b")
	w.until(t, "two large nodes", func(ctx context.Context) (bool, error) {
		if err := w.machines(ctx); err != nil {
			return false, err
		}
		up, _, err := w.nodes(ctx)
		return up == 2, err
	})
	l.stop()
	for _, node := range []string{"node-" + prefix + "-a", "node-" + prefix + "-b"} {
		if err := w.pod(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}
	before := len(w.cloud.Machines())
	l = w.live(t, at)
	deaths := 0
	w.until(t, "one small node", func(ctx context.Context) (bool, error) {
		if l.died() {
			l.stop()
			deaths++
			l = w.live(t, nil) //nolint:contextcheck // it lives longer than this look
		}
		_ = l.round(ctx) // a round that fails is made again
		if err := errors.Join(w.machines(ctx), w.workload(ctx)); err != nil {
			return false, err
		}
		up, smalls, err := w.nodes(ctx)
		return up == 1 && smalls == 1 && w.running() == 1, err
	})
	if at != nil && deaths != 1 {
		t.Errorf("%s: the controller died %d times", reason, deaths)
	}
	if n := len(w.cloud.Machines()) - before; n > 1 {
		t.Errorf("%s: %d machines were launched for one replacement", reason, n)
	}
	w.clear(t)
}

// until plays the kubelets' and the cloud's part until something is so. The cloud's clock runs
// fast: what was taken back is not tried again for ten minutes.
func (w *bareCluster) until(t *testing.T, what string, ok func(context.Context) (bool, error)) {
	t.Helper()
	state, err := eventually.Poll(t.Context(), eventually.Within, func(ctx context.Context) (string, bool) {
		done, err := ok(ctx)
		if !done {
			w.clock.Advance(11 * time.Second)
		}
		return fmt.Sprint(err), done
	})
	if err != nil {
		t.Fatal(eventually.Failure(what, eventually.Within, state+"\n"+w.state(t.Context()), err))
	}
}

// nodes counts initialized nodes that stay, and small ones among them; nothing
// else may be there: -1 is the answer while a claim is on its way in or out.
func (w *bareCluster) nodes(ctx context.Context) (up, smalls int, err error) {
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	if err := errors.Join(w.client.List(ctx, &claims), w.client.List(ctx, &nodes)); err != nil {
		return 0, 0, err
	}
	if len(claims.Items) != len(nodes.Items) {
		return -1, 0, nil
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.Labels[karpv1.LabelInitialized] != "true" || !n.DeletionTimestamp.IsZero() || len(n.Spec.Taints) > 0 {
			return -1, 0, nil
		}
		if n.Labels[corev1.LabelInstanceTypeStable] == small {
			smalls++
		}
	}
	return len(nodes.Items), smalls, nil
}

// running counts machines that cost money.
func (w *bareCluster) running() int {
	n := 0
	for _, m := range w.cloud.Machines() {
		if m.State == "pending" || m.State == "running" {
			n++
		}
	}
	return n
}

// pod makes a pod of a ReplicaSet; on a node, unless that is "".
func (w *bareCluster) pod(ctx context.Context, node string) error {
	w.pods++
	grace, controller := int64(0), true
	return w.client.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprint("app-", w.pods), Labels: map[string]string{"app": "app"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app", UID: "1", Controller: &controller}},
		},
		Spec: corev1.PodSpec{
			NodeName: node, TerminationGracePeriodSeconds: &grace,
			Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
			}}},
		},
	})
}

// workload plays ReplicaSet and scheduler: two pods there are, and each goes to
// a node that takes pods, or is said to find none.
func (w *bareCluster) workload(ctx context.Context) error {
	var pods corev1.PodList
	var nodes corev1.NodeList
	if err := errors.Join(w.client.List(ctx, &pods, client.InNamespace("default")), w.client.List(ctx, &nodes)); err != nil {
		return err
	}
	for n := len(pods.Items); n < 2; n++ {
		if err := w.pod(ctx, ""); err != nil {
			return err
		}
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Spec.NodeName != "" {
			continue
		}
		bound := false
		for k := range nodes.Items {
			n := &nodes.Items[k]
			if len(n.Spec.Taints) > 0 || !n.DeletionTimestamp.IsZero() {
				continue
			}
			binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: n.Name}}
			if err := w.client.SubResource("binding").Create(ctx, p, binding); err != nil {
				return fmt.Errorf("bind %s: %w", p.Name, err)
			}
			bound = true
			break
		}
		if !bound && len(p.Status.Conditions) == 0 {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			if err := w.client.Status().Update(ctx, p); err != nil {
				return fmt.Errorf("report %s: %w", p.Name, err)
			}
		}
	}
	return nil
}

// clear takes everything away for the next case.
func (w *bareCluster) clear(t *testing.T) {
	t.Helper()
	if err := w.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	var claims karpv1.NodeClaimList
	if err := w.client.List(t.Context(), &claims); err != nil {
		t.Fatal(err)
	}
	for i := range claims.Items {
		if err := w.client.Delete(t.Context(), &claims.Items[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.until(t, "the end of everything", func(ctx context.Context) (bool, error) {
		err := w.client.List(ctx, &claims)
		return err == nil && len(claims.Items) == 0 && w.running() == 0, err
	})
}

// state says what there is, for failures.
func (w *bareCluster) state(ctx context.Context) string {
	var claims karpv1.NodeClaimList
	var nodes corev1.NodeList
	var pods corev1.PodList
	text := fmt.Sprintf("%v\n", errors.Join(w.client.List(ctx, &claims), w.client.List(ctx, &nodes), w.client.List(ctx, &pods)))
	for i := range pods.Items {
		p := &pods.Items[i]
		text += fmt.Sprintf("pod %s on %q %v\n", p.Name, p.Spec.NodeName, p.DeletionTimestamp)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		text += fmt.Sprintf("claim %s %s %v %v\n", c.Name, c.Status.ProviderID, c.DeletionTimestamp, c.Annotations)
		for _, x := range c.Status.Conditions {
			text += fmt.Sprintf("  %s=%s %s\n", x.Type, x.Status, x.Message)
		}
	}
	for i := range nodes.Items {
		n := &nodes.Items[i]
		text += fmt.Sprintf("node %s %v %v %v\n", n.Name, n.DeletionTimestamp, n.Spec.Taints, n.Labels)
	}
	return text
}
