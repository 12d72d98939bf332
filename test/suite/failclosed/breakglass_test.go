package failclosed

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/reconcile/decision"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/brokenpolicy"
	"spokeshave.dev/test/kit/eventually"
)

// emergency is a controller in mode Act with the policy "budget", which fails closed.
type emergency struct {
	*site

	loader   *load.Loader
	loop     *decision.Loop
	journal  *journal.Journal
	registry *prometheus.Registry
}

func newEmergency(t *testing.T) *emergency {
	t.Helper()
	e := &emergency{site: newSite(t), registry: prometheus.NewRegistry()}
	e.namespace(t, own)
	broken := brokenpolicy.Kind{Hook: policy.HookCeiling}.Rows()["`hooks` is a word in place of a list"][0].ConfigMap(own, "budget")
	if err := e.client.Create(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	e.loader = load.New(load.Config{Namespace: own, Engines: engine.All(), Now: time.Now, Required: []string{"budget"}})
	keeper := &policies.Reconciler{
		Client: e.manager.GetClient(), Live: e.manager.GetAPIReader(), Events: e.manager.GetEventRecorder("test"), Loader: e.loader,
		Namespace: own, Leading: func() bool { return true }, Changed: func() {}, Clock: clock.RealClock{},
	}
	if err := keeper.SetupWithManager(e.manager); err != nil {
		t.Fatal(err)
	}
	e.registry.MustRegister(policies.NewCollector(e.loader))
	cfg := e.config(t, e.loader)
	e.loop, e.journal = decision.New(cfg), cfg.Journal
	apiserver.Run(t, e.manager)
	if err := keeper.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// suspend runs the documented command's effect, with another time.
func (e *emergency) suspend(t *testing.T, until time.Time) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Break-glass\n")
	m := regexp.MustCompile(`(?m)^    kubectl -n (\S+) annotate configmap (\S+) --overwrite \\\n +(\S+?)=\$\(date -u -d '\+1 hour' \+%Y-%m-%dT%H:%M:%SZ\)$`).FindStringSubmatch(section)
	if m == nil {
		t.Fatalf("%s has no command that suspends a policy", page)
	}
	cm := brokenpolicy.Contents{}.ConfigMap(m[1], m[2])
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, m[3], until.UTC().Format("2006-01-02T15:04:05Z"))
	if err := e.client.Patch(t.Context(), cm, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// decide makes a round, and returns the record of the latest decision and how many claims
// have been launched.
func (e *emergency) decide(t *testing.T) (entry journal.Entry, launched int) {
	t.Helper()
	if _, err := e.loop.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	var claims karpv1.NodeClaimList
	if err := e.client.List(t.Context(), &claims); err != nil {
		t.Fatal(err)
	}
	entries := e.journal.Entries()
	if len(entries) == 0 {
		t.Fatal("no decision is recorded")
	}
	for i := range claims.Items {
		if claims.Items[i].Annotations[karpv1.AnnotationPlannedPods] != "" { // the empty node's has none
			launched++
		}
	}
	return entries[len(entries)-1], launched
}

// stopped reports whether the record says that the policy lets a pod wait.
func stopped(entry *journal.Entry) bool {
	for _, u := range entry.Unplaced {
		for _, r := range u.Reasons {
			if r.Code == model.PolicyUnavailable && r.Policy == "budget" {
				return true
			}
		}
	}
	return false
}

// state waits until the metric says that the policy is in a state.
func (e *emergency) state(t *testing.T, want policy.State) {
	t.Helper()
	eventually.Ok(t, "the policy to be "+string(want), func() (string, bool) {
		families, err := e.registry.Gather()
		if err != nil {
			return err.Error(), false
		}
		var got []string
		for _, f := range families {
			for _, m := range f.GetMetric() {
				for _, l := range m.GetLabel() {
					if f.GetName() == "spokeshave_policy_state" && l.GetName() == "state" && m.GetGauge().GetValue() == 1 {
						got = append(got, l.GetValue())
					}
				}
			}
		}
		return strings.Join(got, ","), len(got) == 1 && got[0] == string(want)
	})
}

// told waits until there is an event about the policy on the API server.
func (e *emergency) told(t *testing.T, reason string) {
	t.Helper()
	eventually.Ok(t, "event "+reason, func() (string, bool) {
		var all eventsv1.EventList
		if err := e.client.List(t.Context(), &all, client.InNamespace(own)); err != nil {
			return err.Error(), false
		}
		var got []string
		for i := range all.Items {
			if all.Items[i].Regarding.Name == "budget" {
				got = append(got, all.Items[i].Reason)
			}
		}
		return strings.Join(got, ","), strings.Contains(","+strings.Join(got, ",")+",", ","+reason+",")
	})
}

// TestBreakGlass: the documented command lets launches go on past a policy that fails
// closed and is required. It leaves the traces that the page names, and ends by itself.
func TestBreakGlass(t *testing.T) {
	e := newEmergency(t)
	e.seen(t, 2)
	e.state(t, policy.StateRejected)
	if entry, launched := e.decide(t); launched != 0 || !stopped(&entry) || len(entry.Suspended) != 0 {
		t.Fatalf("it does not fail closed: %d launched, %+v", launched, entry.Unplaced)
	}

	until := time.Now().Add(time.Hour).Truncate(time.Second)
	e.suspend(t, until)
	e.state(t, policy.StateSuspended)
	entry, launched := e.decide(t)
	if launched != 2 || stopped(&entry) {
		t.Errorf("launches do not resume: %d launched, %+v", launched, entry.Unplaced)
	}
	if len(entry.Suspended) != 1 || entry.Suspended[0].Name != "budget" || !entry.Suspended[0].Until.Equal(until) || len(entry.Policies) != 0 {
		t.Errorf("the record says that %+v is suspended and %+v was asked", entry.Suspended, entry.Policies)
	}
	e.told(t, karpv1.EventPolicySuspended)
	cm := brokenpolicy.Contents{}.ConfigMap(own, "budget")
	if err := e.client.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil || !metav1.HasAnnotation(cm.ObjectMeta, karpv1.AnnotationSuspendedUntil) {
		t.Errorf("the annotation is gone: %v, %v", cm.Annotations, err)
	}

	e.suspend(t, time.Now().Add(3*time.Second))
	e.state(t, policy.StateRejected)
	e.told(t, karpv1.EventPolicyResumed)
	e.pod(t, "three")
	e.seen(t, 3)
	if entry, launched := e.decide(t); launched != 2 || !stopped(&entry) || len(entry.Suspended) != 0 {
		t.Errorf("it does not fail closed again: %d launched, %+v, suspended %+v", launched, entry.Unplaced, entry.Suspended)
	}
}
