package announced

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/eventually"
)

// replicaSet creates a ReplicaSet of twenty pods, as a Deployment's.
func (b *bench) replicaSet(t *testing.T) *appsv1.ReplicaSet {
	t.Helper()
	replicas := int32(20)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: template().Labels}, Template: template()},
	}
	b.create(t, rs)
	return rs
}

// want compares what the claims say.
func (b *bench) want(t *testing.T, when string, want planned) {
	t.Helper()
	if diff := cmp.Diff(want, b.planned(t)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// TestSlowDeployment: of twenty pods one exists, and one decision launches the nodes of
// all. The others take their places when they come, and nothing else is launched.
func TestSlowDeployment(t *testing.T) {
	b := start(t, true)
	rs := b.replicaSet(t)
	b.pod(t, "ReplicaSet", "apps/v1", rs, "web-0")
	b.seen(t)
	b.round(t, 1)
	b.want(t, "the first decision", planned{Claims: 3, Pods: 1, Announced: 19})
	entries := b.journal.Entries()
	if got := entries[len(entries)-1].Pods; got != 20 {
		t.Errorf("the record of the decision is about %d pods, want 20", got)
	}
	for i := 1; i < 5; i++ {
		b.pod(t, "ReplicaSet", "apps/v1", rs, fmt.Sprintf("web-%d", i))
	}
	b.round(t, 5)
	b.want(t, "five have come", planned{Claims: 3, Pods: 5, Announced: 15})
	for i := 5; i < 20; i++ {
		b.pod(t, "ReplicaSet", "apps/v1", rs, fmt.Sprintf("web-%d", i))
	}
	b.round(t, 20)
	b.want(t, "all have come", planned{Claims: 3, Pods: 20})
	b.round(t, 20)
	b.want(t, "a decision later", planned{Claims: 3, Pods: 20})
	close(b.events.Events)
	for e := range b.events.Events {
		if strings.Contains(e, "(announced") {
			t.Errorf("an event about a pod that did not exist: %s", e)
		}
	}
}

// seen waits until the watches have seen the owner.
func (b *bench) seen(t *testing.T) {
	t.Helper()
	eventually.Ok(t, "the owner is seen", func() (string, bool) {
		n := b.view.Owners()
		return fmt.Sprint(n, " owners"), n == 1
	})
}

// TestSilent: what does not announce pods gets a node for the pod that exists.
func TestSilent(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		off    bool
		owner  func(t *testing.T, b *bench) (kind, version string, owner client.Object)
		after  time.Duration
	}{
		"refused": {reason: "a quota lets no further pod in", owner: func(t *testing.T, b *bench) (string, string, client.Object) {
			rs := b.replicaSet(t)
			rs.Status.Replicas = 1
			rs.Status.Conditions = []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: "exceeded quota"}}
			b.writeStatus(t, rs)
			return "ReplicaSet", "apps/v1", rs
		}},
		"quota": {reason: "the namespace has room for one pod, and nothing has been refused yet", owner: func(t *testing.T, b *bench) (string, string, client.Object) {
			one := corev1.ResourceList{"pods": resource.MustParse("1")}
			quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}, Spec: corev1.ResourceQuotaSpec{Hard: one}}
			b.create(t, quota)
			quota.Status = corev1.ResourceQuotaStatus{Hard: one, Used: corev1.ResourceList{"pods": resource.MustParse("0")}}
			b.writeStatus(t, quota)
			return "ReplicaSet", "apps/v1", b.replicaSet(t)
		}},
		"suspended": {reason: "a Job that was suspended makes no further pods", owner: func(t *testing.T, b *bench) (string, string, client.Object) {
			yes, twenty, pod := true, int32(20), template()
			pod.Spec.RestartPolicy = corev1.RestartPolicyNever
			job := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
				Spec:       batchv1.JobSpec{Suspend: &yes, Parallelism: &twenty, Completions: &twenty, Template: pod},
			}
			b.create(t, job)
			return "Job", "batch/v1", job
		}},
		"stopped": {reason: "no pod has come for a while", after: 11 * time.Second, owner: func(t *testing.T, b *bench) (string, string, client.Object) {
			return "ReplicaSet", "apps/v1", b.replicaSet(t)
		}},
		"off": {reason: "--announced-pods=false", off: true, owner: func(t *testing.T, b *bench) (string, string, client.Object) {
			return "ReplicaSet", "apps/v1", b.replicaSet(t)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, !tc.off)
			kind, version, owner := tc.owner(t, b)
			b.pod(t, kind, version, owner, "web-0")
			if !tc.off {
				b.seen(t)
			}
			b.clock.Step(tc.after)
			b.round(t, 1)
			b.want(t, tc.reason, planned{Claims: 1, Pods: 1})
		})
	}
}

// TestBounds: caps and limits count announced pods as any other.
func TestBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		bound  func(t *testing.T, b *bench)
	}{
		"cap": {reason: "a node costs 0.40 $/h", bound: func(_ *testing.T, b *bench) { b.policies = []policy.Policy{hourly(0.5)} }},
		"limits": {reason: "limits of the NodePool allow one node", bound: func(t *testing.T, b *bench) {
			pool := &karpv1.NodePool{}
			if err := b.client.Get(t.Context(), client.ObjectKey{Name: "general"}, pool); err != nil {
				t.Fatal(err)
			}
			pool.Spec.Limits = karpv1.Limits{karpv1.LimitNodes: resource.MustParse("1")}
			if err := b.client.Update(t.Context(), pool); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, true)
			tc.bound(t, b)
			rs := b.replicaSet(t)
			b.pod(t, "ReplicaSet", "apps/v1", rs, "web-0")
			b.seen(t)
			b.round(t, 1)
			b.want(t, tc.reason, planned{Claims: 1, Pods: 1, Announced: 7})
			b.round(t, 1)
			b.want(t, "a decision later", planned{Claims: 1, Pods: 1, Announced: 7})
		})
	}
}

// TestExistingFirst: where not all can have a place, pods that exist come before those that
// are announced, also before those of another workload.
func TestExistingFirst(t *testing.T) {
	b := start(t, true)
	b.policies = []policy.Policy{hourly(0.5)} // one node
	rs := b.replicaSet(t)
	b.pod(t, "ReplicaSet", "apps/v1", rs, "web-0")
	database := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "database"}, Spec: template().Spec}
	database.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("6")}
	b.create(t, database)
	database.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	b.writeStatus(t, database)
	b.seen(t)
	b.round(t, 2)
	b.want(t, "both exist", planned{Claims: 1, Pods: 2})
	b.round(t, 2)
	b.want(t, "what is left of the node", planned{Claims: 1, Pods: 2, Announced: 1})
}

// TestNeverCame: the nodes of announced pods that do not come leave when they have been
// empty for consolidateAfter, and no others are launched.
func TestNeverCame(t *testing.T) {
	b := start(t, true)
	rs := b.replicaSet(t)
	b.pod(t, "ReplicaSet", "apps/v1", rs, "web-0")
	b.seen(t)
	b.round(t, 1)
	b.want(t, "the first decision", planned{Claims: 3, Pods: 1, Announced: 19})
	b.join(t)
	b.clock.Step(5 * time.Second)
	b.round(t, 1)
	b.want(t, "the nodes are ready", planned{Claims: 3, Pods: 1, Announced: 19})
	b.clock.Step(6 * time.Second) // no pod has come for more than ten seconds
	b.round(t, 1)
	b.want(t, "they have not come", planned{Claims: 3, Pods: 1})
	b.clock.Step(10 * time.Second) // the nodes have been empty for more than consolidateAfter
	for range 4 {                  // taint, then delete
		b.round(t, 1)
		b.clock.Step(time.Second)
	}
	if got := b.planned(t); got.Claims != 1 {
		t.Errorf("%d nodes are left, want the one of the pod that exists", got.Claims)
	}
}

// join makes an initialized node of every claim.
func (b *bench) join(t *testing.T) {
	t.Helper()
	claims := &karpv1.NodeClaimList{}
	if err := b.client.List(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	now := metav1.NewTime(b.clock.Now())
	for i := range claims.Items {
		c := &claims.Items[i]
		labels := map[string]string{
			corev1.LabelInstanceTypeStable: "m5.2xlarge", corev1.LabelTopologyZone: "zone-a", karpv1.LabelCapacityType: "on-demand", karpv1.LabelNodePool: "general",
			karpv1.LabelRegistered: "true", karpv1.LabelInitialized: "true",
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Name, Labels: labels}, Spec: corev1.NodeSpec{ProviderID: "aws:///zone-a/" + c.Name}}
		b.create(t, node)
		node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("8"), "pods": resource.MustParse("58")}
		node.Status.Capacity = node.Status.Allocatable
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		b.writeStatus(t, node)
		base := c.DeepCopy()
		maps.Copy(c.Labels, labels)
		if err := b.client.Patch(t.Context(), c, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
		c.Status.ProviderID, c.Status.NodeName = node.Spec.ProviderID, node.Name
		c.Status.Capacity, c.Status.Allocatable = karpv1.ResourceList(node.Status.Capacity), karpv1.ResourceList(node.Status.Allocatable)
		for _, kind := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
			c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: now})
		}
		b.writeStatus(t, c)
	}
	eventually.Ok(t, "the nodes are seen", func() (string, bool) {
		n := 0
		for i := range claims.Items {
			if b.view.Node(claims.Items[i].Name) != nil {
				n++
			}
		}
		return fmt.Sprint(n, " nodes"), n == len(claims.Items)
	})
}
