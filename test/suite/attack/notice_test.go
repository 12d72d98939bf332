package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/user"
)

// forgedNotice deletes the claim of a node that a pod keeps, and says of it in each way that
// there is that EC2 takes it away in a moment.
func forgedNotice(t *testing.T) {
	name := kept(t)
	install(t, "dollar", "hooks: [ceiling]\n", ceilingOn("nodepool/general", dollar))
	status(t, "dollar", "Active")
	counts(t)
	soon := time.Now().Add(2 * time.Minute).UTC().Format(time.RFC3339)
	annotate := func(key string) error {
		return patchClaim(t, name, fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, key, soon))
	}
	refusedWrite(t, "written by the controller only", annotate(karpv1.AnnotationInterrupted))
	if err := stack.Client.Delete(t.Context(), &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	refusedWrite(t, "written by the controller only", annotate(karpv1.AnnotationInterrupted))
	refusedWrite(t, "cuts a drain short", annotate(karpv1.AnnotationTerminationTimestamp))
	unfence(t)
	if err := annotate(karpv1.AnnotationTerminationTimestamp); err != nil {
		t.Fatal(err)
	}
	var lies []metav1.Condition
	for _, reason := range []string{karpv1.NoticeSpot, karpv1.NoticeReservation, karpv1.NoticeCapacityBlock} {
		lies = append(lies[:0], metav1.Condition{
			Type: karpv1.ConditionDisruptionReason, Status: metav1.ConditionTrue, Reason: reason, Message: "EC2 takes the instance away", LastTransitionTime: metav1.Now(),
		})
		if err := writeStatus(t, name, string(marshal(t, map[string]any{"status": map[string]any{"conditions": lies}}))); err != nil {
			t.Fatal(err)
		}
		counts(t)
	}
	fleet, err := stack.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range fleet {
		if fleet[i].Claim == name {
			return
		}
	}
	t.Error("the node that the pod keeps is gone, so that nothing was shown")
}

// dollar is a cap on NodePool general, in dollars an hour.
const dollar = 1.0

// counts wants less than the cap to be left of it, by two decisions.
func counts(t *testing.T) {
	t.Helper()
	const made = "karpenter_scheduler_scheduling_duration_seconds_count"
	before := number(t, made, "")
	until(t, "two decisions", func(ctx context.Context) (string, bool) {
		now, err := metric(ctx, made, "")
		return fmt.Sprintf("%v decisions, %v before; %v", now, before, err), err == nil && now >= before+2
	})
	if left := number(t, "spokeshave_headroom_usd", `scope="nodepool/general"`); left > dollar-0.01 {
		t.Errorf("%v $/h of %v are left, although a node runs", left, dollar)
	}
}

// kept starts a pod that forbids the disruption of its node, and returns the node's claim. The pod goes
// with the attack.
func kept(t *testing.T) string {
	t.Helper()
	empty(t)
	one := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "keeper", Annotations: map[string]string{karpv1.AnnotationDoNotDisrupt: "true"}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(0)),
			Containers:                    []corev1.Container{{Name: "main", Image: "example.com/keeper", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
		},
	}
	user.Create(t, stack.Client, one)
	t.Cleanup(func() {
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), one); err != nil {
			t.Error(err)
		}
	})
	var found harness.Machine
	until(t, "the pod to run", func(ctx context.Context) (string, bool) {
		if err := stack.Client.Get(ctx, types.NamespacedName{Namespace: one.Namespace, Name: one.Name}, one); err != nil || one.Status.Phase != corev1.PodRunning {
			return fmt.Sprint(one.Status.Phase, err), false
		}
		fleet, err := stack.Fleet(ctx)
		for i := range fleet {
			if fleet[i].Node == one.Spec.NodeName {
				found = fleet[i]
			}
		}
		return fmt.Sprintf("claim %q, %v", found.Claim, err), found.Claim != ""
	})
	return found.Claim
}
