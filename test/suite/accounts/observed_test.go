package accounts

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/kube/reconcile/comparison"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/record/observe"
	"spokeshave.dev/test/kit/apiserver"
)

// TestObservedSurvives: the comparison of mode Observe outlives its controller,
// and a ConfigMap that was spoilt.
func TestObservedSurvives(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	told := events.NewFakeRecorder(10)
	clock := clocktesting.NewFakeClock(now)
	var seen *observe.Observer
	keeper := func() *comparison.Tracker {
		seen = &observe.Observer{}
		return &comparison.Tracker{
			Store:    configmap.Store{Client: c, Live: c, Namespace: namespace, Name: comparison.Name, Key: comparison.Key},
			Observer: seen, Events: told, Clock: clock,
		}
	}
	look := func(k *comparison.Tracker) {
		t.Helper()
		if err := k.Add(t.Context(), snapshot(clock.Now().Sub(now)), &decide.Decision{}); err != nil {
			t.Fatal(err)
		}
		clock.Step(time.Minute)
	}
	seconds := func() int64 {
		r := seen.Report()
		total := r.Total()
		return total.Seconds
	}
	first := keeper()
	for range 6 { // written in the fourth minute, and not since
		look(first)
	}
	second := keeper()
	look(second)
	if got := seconds(); got != 6*60 {
		t.Errorf("after a restart %d seconds were seen, want six minutes", got)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: comparison.Name}}
	cm.BinaryData = map[string][]byte{comparison.Key: []byte("spoilt")}
	if err := c.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	look(keeper())
	if got := seconds(); got != 0 {
		t.Errorf("begun anew, %d seconds were seen", got)
	}
	select {
	case <-told.Events:
	default:
		t.Error("nobody is told that what was observed is lost")
	}
}
