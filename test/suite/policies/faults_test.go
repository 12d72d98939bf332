package policies

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/controlplane"
)

// errFault is what a request that a test lets fail returns.
var errFault = errors.New("the API server does not answer")

// flaky is a client whose next requests of a kind fail, as many as the counters say.
type flaky struct {
	client.WithWatch

	lists, creates, deletes atomic.Int32
}

func newFlaky(t *testing.T, c client.WithWatch) *flaky {
	t.Helper()
	f := &flaky{}
	fails := func(n *atomic.Int32) bool { return n.Add(-1) >= 0 }
	f.WithWatch = interceptor.NewClient(c, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if fails(&f.lists) {
				return errFault
			}
			return c.List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if fails(&f.creates) {
				return errFault
			}
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if fails(&f.deletes) {
				return errFault
			}
			return c.Delete(ctx, o, opts...)
		},
	})
	return f
}

// manualReconciler is an API server and a reconciler whose calls the test makes itself.
type manualReconciler struct {
	flaky  *flaky
	clock  *clocktesting.FakeClock
	events *events.FakeRecorder
	keeper *policies.Reconciler
}

// newReconciler returns one with a namespace and nothing in it.
func newReconciler(t *testing.T) *manualReconciler {
	t.Helper()
	server := controlplane.ForTest(t, false)
	c, err := client.NewWithWatch(server.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	l := &manualReconciler{flaky: newFlaky(t, c), clock: clocktesting.NewFakeClock(time.Now())}
	l.restart()
	return l
}

// restart replaces the reconciler and its loader by new ones, which know nothing.
func (l *manualReconciler) restart() {
	l.events = events.NewFakeRecorder(100)
	l.keeper = &policies.Reconciler{
		Client: l.flaky, Live: l.flaky, Events: l.events, Clock: l.clock, Namespace: namespace,
		Loader:  load.New(load.Config{Namespace: namespace, Engines: engine.All(), Now: l.clock.Now, Required: []string{"budget"}}),
		Leading: func() bool { return true }, Changed: func() {},
	}
}

func (l *manualReconciler) reconcile(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return l.keeper.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "budget"}})
}

// must is reconcile that has to succeed.
func (l *manualReconciler) must(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := l.reconcile(t)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// fails is reconcile that has to fail with the injected fault.
func (l *manualReconciler) fails(t *testing.T) {
	t.Helper()
	if _, err := l.reconcile(t); !errors.Is(err, errFault) {
		t.Fatalf("err = %v, want the injected fault", err)
	}
}

func (l *manualReconciler) write(t *testing.T, cm *corev1.ConfigMap) {
	t.Helper()
	err := l.flaky.Update(t.Context(), cm)
	if client.IgnoreNotFound(err) == nil && err != nil {
		err = l.flaky.Create(t.Context(), cm)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// settled reports whether decisions may be made.
func (l *manualReconciler) settled(t *testing.T) bool {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	return l.keeper.Await(ctx) == nil
}

func (l *manualReconciler) inForce() string {
	return l.keeper.Loader.InForce(load.Key{Namespace: namespace, Name: "budget"})
}

// goodAt returns a budget of that many dollars, which loads.
func goodAt(usd int) *corev1.ConfigMap {
	return budgetPolicy(fmt.Sprintf("package spokeshave.ceiling\n\ncap[\"cluster\"] := {\"hourly_usd\": %d}\n", usd))
}

// TestCopyAfterFaults: a copy that could not be written is written by the next call,
// also when the policy was broken in between.
func TestCopyAfterFaults(t *testing.T) {
	l := newReconciler(t)
	l.write(t, goodAt(1))
	l.flaky.creates.Store(1)
	l.fails(t)
	if n := copies(t, l.flaky); n != 0 {
		t.Fatalf("%d copies", n)
	}
	l.write(t, budgetPolicy(broken))
	l.flaky.lists.Store(1)
	l.fails(t)
	l.must(t)
	if n := copies(t, l.flaky); n != 1 {
		t.Errorf("%d copies of a good version that was broken before it was copied, want 1", n)
	}

	l.write(t, goodAt(2))
	l.flaky.deletes.Store(1)
	l.fails(t)
	if n := copies(t, l.flaky); n != 2 {
		t.Fatalf("%d copies, want the old and the new one", n)
	}
	want := load.Hash(goodAt(2))
	l.restart()
	l.write(t, budgetPolicy(broken))
	l.must(t)
	if got := l.inForce(); got != want {
		t.Errorf("restored %.12s, want the newer of two copies, %.12s", got, want)
	}
	if n := copies(t, l.flaky); n != 1 {
		t.Errorf("%d copies, want the older one gone", n)
	}
}

// TestReturnToAnOlderVersion: when contents return that were copied before, their copy
// is the newest again.
func TestReturnToAnOlderVersion(t *testing.T) {
	l := newReconciler(t)
	for _, usd := range []int{1, 2, 1} {
		l.write(t, goodAt(usd))
		l.flaky.deletes.Store(1) // the older copy survives
		if _, err := l.reconcile(t); err != nil && !errors.Is(err, errFault) {
			t.Fatal(err)
		}
	}
	want := load.Hash(goodAt(1))
	l.restart()
	l.write(t, budgetPolicy(broken))
	l.flaky.deletes.Store(0)
	l.must(t)
	if got := l.inForce(); got != want {
		t.Errorf("restored %.12s, want what was in force last, %.12s", got, want)
	}
}

// TestRestoreBeforeDecisions: no decision is made while it is not known whether a
// broken policy has a last good version.
func TestRestoreBeforeDecisions(t *testing.T) {
	l := newReconciler(t)
	l.write(t, goodAt(1))
	l.must(t)
	l.write(t, budgetPolicy(broken))
	l.restart()
	l.flaky.lists.Store(1)
	l.fails(t)
	if l.settled(t) {
		t.Error("a decision may be made before the copies could be listed")
	}
	l.must(t)
	if !l.settled(t) || l.inForce() == "" {
		t.Errorf("settled %v, in force %q after the fault has passed", l.settled(t), l.inForce())
	}
}

// busy is an engine whose next compilations run out of time, as many as it says.
type busy struct {
	policy.Engine

	left atomic.Int32
}

func (b *busy) Compile(ctx context.Context, src *policy.Source) (policy.Compiled, error) {
	if b.left.Add(-1) >= 0 {
		return nil, &policy.Fault{Kind: policy.FaultDeadline, Message: "the machine is busy"}
	}
	return b.Engine.Compile(ctx, src)
}

// TestCopyLoadsLater: a copy that could not be loaded, because the machine was busy after a
// restart, is loaded later without an edit.
func TestCopyLoadsLater(t *testing.T) {
	l := newReconciler(t)
	l.write(t, goodAt(1))
	l.must(t)
	unreadable := budgetPolicy(good)
	delete(unreadable.Data, "policy.yaml")
	l.write(t, unreadable)
	l.restart()
	slow := &busy{Engine: engine.All()["rego"]}
	slow.left.Store(1)
	l.keeper.Loader = load.New(load.Config{Namespace: namespace, Engines: map[string]policy.Engine{"rego": slow}, Now: l.clock.Now})
	if again := l.must(t).RequeueAfter; l.inForce() != "" || again == 0 {
		t.Fatalf("in force %q, looked at again after %s", l.inForce(), again)
	}
	if again := l.must(t).RequeueAfter; l.inForce() != load.Hash(goodAt(1)) || again != 0 {
		t.Errorf("in force %q, looked at again after %s", l.inForce(), again)
	}
}

// TestNoVersionLoads: a policy without any version that loads holds no decision up: its
// failure policy applies.
func TestNoVersionLoads(t *testing.T) {
	l := newReconciler(t)
	cm := budgetPolicy(good)
	cm.Data["policy.yaml"] = "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: ceiling\n"
	l.write(t, cm)
	l.must(t)
	if !l.settled(t) {
		t.Error("decisions wait for a policy that never loads")
	}
	if all := l.keeper.Loader.Policies(); len(all) != 1 {
		t.Errorf("%d policies are asked, want the unreadable ceiling", len(all))
	}
}

// TestSweepGoesOn: after a fault the sweep still deletes what it can, and the next one
// the rest.
func TestSweepGoesOn(t *testing.T) {
	l := newReconciler(t)
	l.write(t, goodAt(1))
	l.must(t)
	if err := l.flaky.Delete(t.Context(), budgetPolicy("")); err != nil {
		t.Fatal(err)
	}
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a-foreign", Labels: map[string]string{"spokeshave.dev/policy-copy": "true"}}}
	l.write(t, foreign)
	l.restart()
	l.flaky.deletes.Store(1)
	if err := l.keeper.Sweep(t.Context()); !errors.Is(err, errFault) {
		t.Fatalf("err = %v", err)
	}
	if err := l.keeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := copies(t, l.flaky); n != 1 {
		t.Errorf("%d copies, want the one that the controller did not make", n)
	}
}

// TestSuspension: the annotation takes a policy out of force for the time that it says,
// and what it does can be seen.
func TestSuspension(t *testing.T) {
	l := newReconciler(t)
	cm := budgetPolicy(broken)
	l.write(t, cm)
	l.must(t)
	if n := len(l.keeper.Loader.Policies()); n != 1 || len(l.keeper.Loader.Missing()) != 1 {
		t.Fatalf("%d policies, missing %v", n, l.keeper.Loader.Missing())
	}
	suspend := func(at string) reconcile.Result {
		cm := budgetPolicy(broken)
		cm.Annotations = map[string]string{"spokeshave.dev/suspended-until": at}
		l.write(t, cm)
		return l.must(t)
	}
	for _, at := range []string{"tomorrow", l.clock.Now().Add(25 * time.Hour).Format(time.RFC3339)} {
		suspend(at)
		if len(l.keeper.Loader.Policies()) != 1 || !l.told("PolicyNotSuspended") {
			t.Errorf("%q: suspended, or no event", at)
		}
	}
	again := suspend(l.clock.Now().Add(time.Hour).Format(time.RFC3339))
	if len(l.keeper.Loader.Policies()) != 0 || len(l.keeper.Loader.Missing()) != 0 || !l.told("PolicySuspended") {
		t.Errorf("not suspended, or without an event: %v, missing %v", l.keeper.Loader.Policies(), l.keeper.Loader.Missing())
	}
	if recorded := l.keeper.Loader.Suspended(); len(recorded) != 1 || recorded[0].Name != cm.Name || recorded[0].Until.IsZero() {
		t.Errorf("suspended are %+v", recorded)
	}
	if s := l.keeper.Loader.Status()[0]; s.State != "Suspended" || !strings.Contains(s.Reason, "spokeshave.dev/suspended-until") {
		t.Errorf("status %+v", s)
	}
	if again.RequeueAfter <= 59*time.Minute || again.RequeueAfter > time.Hour {
		t.Errorf("looked at again after %s", again.RequeueAfter)
	}
	l.clock.Step(again.RequeueAfter)
	l.must(t)
	if len(l.keeper.Loader.Policies()) != 1 || !l.told("PolicyResumed") {
		t.Error("still suspended after the time has passed, or no event")
	}
}

// told reports whether an event with the reason was sent, and forgets the events.
func (l *manualReconciler) told(reason string) bool {
	found := false
	for {
		select {
		case text := <-l.events.Events:
			found = found || strings.Contains(text, reason)
		default:
			return found
		}
	}
}
