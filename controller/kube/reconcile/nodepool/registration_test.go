package nodepool_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/nodepool"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

// TestRegistration: a pool whose claims fail says so, launches nothing for a while, and
// starts anew when it is changed.
func TestRegistration(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	pool := newPool("failing", awsv1.Group, awsv1.Kind)
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := clocktesting.NewFakeClock(now)
	told := events.NewFakeRecorder(100)
	outcomes := &poolhealth.Outcomes{}
	r := &nodepool.Reconciler{Client: c, Events: told, Clock: at, Outcomes: outcomes}
	reconcile := func() time.Duration {
		t.Helper()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
			t.Fatal(err)
		}
		result, err := r.Reconcile(t.Context(), pool)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	is := func(why string, want metav1.ConditionStatus, paused bool) {
		t.Helper()
		c := meta.FindStatusCondition(pool.Status.Conditions, karpv1.ConditionNodeRegistrationHealthy)
		if c == nil || c.Status != want || c.ObservedGeneration != pool.Generation {
			t.Errorf("%s: the condition is %+v, want %s", why, c, want)
		}
		if got := lower.Pool(pool).NotReady; paused != strings.HasPrefix(got, "launches are paused until 2026-01-01T00:") {
			t.Errorf("%s: not ready because %q, want paused %v", why, got, paused)
		}
	}
	reconcile()
	is("nothing was launched", metav1.ConditionUnknown, false)
	for range 2 {
		outcomes.Failed(pool.Name, poolhealth.Failure{Reason: "LaunchFailed", Message: "you may not run instances"}, now, now)
	}
	again := reconcile()
	is("two launches failed", metav1.ConditionFalse, true)
	if again <= 0 || again > time.Minute {
		t.Errorf("looked at again after %s", again)
	}
	if e := <-told.Events; !strings.Contains(e, karpv1.EventLaunchesPaused) || !strings.Contains(e, "you may not run instances") {
		t.Errorf("told %q", e)
	}
	r.Outcomes = &poolhealth.Outcomes{}
	reconcile()
	is("the controller restarted", metav1.ConditionFalse, true)
	at.SetTime(now.Add(again))
	reconcile()
	is("the pause is over", metav1.ConditionFalse, false)
	r.Outcomes = outcomes
	at.SetTime(now)
	reconcile()
	is("within the pause", metav1.ConditionFalse, true)
	pool.Spec.Template.Spec.ExpireAfter = "48h"
	if err := c.Update(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	reconcile()
	is("the pool was changed", metav1.ConditionUnknown, false)
	outcomes.Registered(pool.Name)
	reconcile()
	is("a node has registered", metav1.ConditionTrue, false)
	class := &awsv1.EC2NodeClass{}
	class.Name = pool.Spec.Template.Spec.NodeClassRef.Name
	class.Spec.Role = "nodes"
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-1"}}
	class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-1"}}
	if err := c.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	reconcile()
	is("the class has come", metav1.ConditionUnknown, false)
	if got := pool.Status.NodeClassObservedGeneration; got != class.Generation || got == 0 {
		t.Errorf("nodeClassObservedGeneration is %d, the class has %d", got, class.Generation)
	}
}

// TestForeignPool: the NodePool of another controller is not written.
func TestForeignPool(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	pool := newPool("auto", "eks.amazonaws.com", "NodeClass")
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	before := pool.ResourceVersion
	if _, err := (&nodepool.Reconciler{Client: c, Clock: clocktesting.NewFakeClock(time.Now())}).Reconcile(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	if pool.ResourceVersion != before {
		t.Errorf("the pool was written: %v, %+v", pool.Annotations, pool.Status)
	}
}

// TestForgotten: a pool that is gone leaves nothing behind, however many come and go, also when a claim of
// it becomes a node afterwards.
func TestForgotten(t *testing.T) {
	server := apiserver.Start(t)
	mgr := server.Manager(t)
	outcomes := &poolhealth.Outcomes{}
	r := &nodepool.Reconciler{Client: mgr.GetClient(), Events: events.NewFakeRecorder(100), Clock: clocktesting.NewFakeClock(time.Now()), Outcomes: outcomes}
	if err := r.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	apiserver.Run(t, mgr)
	c := server.Client(t)
	gone, kept := newPool("gone", awsv1.Group, awsv1.Kind), newPool("kept", awsv1.Group, awsv1.Kind)
	for _, pool := range []*karpv1.NodePool{gone, kept} {
		if err := c.Create(t.Context(), pool); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "NodePool "+pool.Name+" is seen", func() bool {
			return c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool) == nil && len(pool.Status.Conditions) > 0
		})
		outcomes.Registered(pool.Name)
	}
	known := func(name string) bool { return outcomes.Health(name, time.Time{}).Known }
	if !known("gone") || !known("kept") {
		t.Fatal("the outcomes of pools that are there are not known")
	}
	if err := c.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the outcomes to be forgotten", func() bool { return !known("gone") })
	outcomes.Registered("gone")
	eventually.True(t, "what came afterwards to be forgotten", func() bool { return !known("gone") })
	if !known("kept") {
		t.Error("the outcomes of another pool are forgotten")
	}
}
