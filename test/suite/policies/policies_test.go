// Package policies tests, on a real API server, what becomes of a policy's
// ConfigMap: in force, rejected with the last good version kept, restored after
// a restart, forgotten.
package policies

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

const namespace = "spokeshave"

// replica is a controller's share of this: it ends with stop.
type replica struct {
	client client.Client
	loader *load.Loader
	stop   func()
}

func start(t *testing.T, server *apiserver.Server) *replica {
	t.Helper()
	mgr := server.Manager(t)
	r := &replica{client: mgr.GetClient(), loader: load.New(load.Config{Namespace: namespace, Engines: engine.All(), Now: time.Now})}
	keeper := &policies.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("test"), Loader: r.loader,
		Namespace: namespace, Leading: func() bool { return true }, Changed: func() {}, Clock: clock.RealClock{},
	}
	status := &policies.StatusWriter{Client: mgr.GetClient(), Loader: r.loader, Namespace: namespace, Clock: clock.RealClock{}, Every: 100 * time.Millisecond}
	if err := keeper.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	if err := mgr.Add(status); err != nil {
		t.Fatal(err)
	}
	r.stop = apiserver.Run(t, mgr)
	return r
}

func budgetPolicy(source string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "budget", Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data: map[string]string{
			"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [ceiling]\n",
			"budget.rego": source,
		},
	}
}

const (
	good   = "package spokeshave.ceiling\n\ncap[\"cluster\"] := {\"hourly_usd\": 2}\n"
	broken = "package spokeshave.ceiling\n\ncap[\"cluster\"] := {\n"
)

// is waits until the status object says what is wanted of a policy.
func (r *replica) is(t *testing.T, name string, state policy.State, reason string) policy.Status {
	t.Helper()
	var s policy.Status
	eventually.Ok(t, name+" to be "+string(state), func() (string, bool) {
		cm := &corev1.ConfigMap{}
		if err := r.client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: policies.StatusName}, cm); err != nil {
			return err.Error(), false
		}
		text := cm.Data[namespace+"."+name]
		s = policy.Status{}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return text, false
		}
		return text, s.State == state && strings.Contains(s.Reason, reason)
	})
	return s
}

func copies(t *testing.T, c client.Client) int {
	t.Helper()
	var all corev1.ConfigMapList
	if err := c.List(t.Context(), &all, client.InNamespace(namespace), client.MatchingLabels{"spokeshave.dev/policy-copy": "true"}); err != nil {
		t.Fatal(err)
	}
	return len(all.Items)
}

func TestPolicyLife(t *testing.T) {
	server := apiserver.Start(t)
	c := server.Client(t)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), budgetPolicy(good)); err != nil {
		t.Fatal(err)
	}
	r := start(t, server)
	first := r.is(t, "budget", policy.StateActive, "")
	eventually.Ok(t, "one copy", func() (string, bool) { n := copies(t, c); return "", n == 1 })

	if err := c.Update(t.Context(), budgetPolicy(broken)); err != nil {
		t.Fatal(err)
	}
	s := r.is(t, "budget", policy.StateRejected, "budget.rego:")
	if s.Hash != first.Hash || !strings.Contains(s.Reason, "stays in force") || len(r.loader.Policies()) != 1 {
		t.Errorf("the good version is not in force: %+v", s)
	}
	r.stop()

	again := start(t, server)
	eventually.Ok(t, "the good version to be in force after a restart", func() (string, bool) {
		all := again.loader.Status()
		return fmt.Sprintf("%+v", all), len(all) == 1 && all[0].State == policy.StateRejected && all[0].Hash == first.Hash && len(again.loader.Policies()) == 1
	})
	if err := c.Delete(t.Context(), budgetPolicy("")); err != nil {
		t.Fatal(err)
	}
	eventually.Ok(t, "everything to be forgotten", func() (string, bool) {
		return fmt.Sprintf("%d copies, %+v", copies(t, c), again.loader.Status()), copies(t, c) == 0 && len(again.loader.Policies()) == 0 && len(again.loader.Status()) == 0
	})
	again.stop()

	// A policy that goes while nobody looks takes its copy along at the next start.
	if err := c.Create(t.Context(), budgetPolicy(good)); err != nil {
		t.Fatal(err)
	}
	third := start(t, server)
	eventually.Ok(t, "one copy", func() (string, bool) { n := copies(t, c); return "", n == 1 })
	third.stop()
	if err := c.Delete(t.Context(), budgetPolicy("")); err != nil {
		t.Fatal(err)
	}
	fourth := start(t, server)
	eventually.Ok(t, "the copy to go", func() (string, bool) { n := copies(t, c); return "", n == 0 })
	fourth.stop()
}
