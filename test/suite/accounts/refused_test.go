package accounts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/demand"
)

// refusedOffice is an office whose clock is right.
func refusedOffice(t *testing.T, c client.Client, name string) *office {
	t.Helper()
	o := newOffice(t, c, name, time.Now())
	o.tolerance = 2 * time.Minute
	return o
}

// TestLedgerRefused: admission refuses the ledger's ConfigMap for good. Counting goes on, so that
// decisions are made; monthly caps let nothing through, and it is said why. Once the ConfigMap is
// accepted, the ledger of a controller that ran all the time is certain.
func TestLedgerRefused(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, known := range map[string]bool{"refused from the start": false, "refused later": true} {
		t.Run(name, func(t *testing.T) {
			o := refusedOffice(t, c, strings.ReplaceAll(name, " ", "-"))
			k := o.keeper()
			if known {
				o.want(t, k, "before", 1, "")
			}
			end := demand.Label(t, c, o.namespace, "owner")
			o.clock.Step(time.Minute) // when it is written next, if it was known
			o.want(t, k, "refused", 1+1./60, "every ConfigMap needs a label owner")
			_, doubt := o.count(t, k)
			if !strings.Contains(doubt, "service account write its ConfigMaps") {
				t.Errorf("no way out in %q", doubt)
			}
			if got := metric(t, k, "spokeshave_spend_in_doubt"); got != 1 {
				t.Errorf("spend in doubt: %v", got)
			}
			other := o.keeper()
			o.want(t, other, "after a restart", 1+1./60, "every ConfigMap needs a label owner")

			end()
			o.clock.Step(30 * time.Second) // before it is written next, if it were not refused
			o.want(t, k, "accepted again", 1+1.5/60, "")
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(o.object(ledger.Name)), &corev1.ConfigMap{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLaunchedWhileRefused: a controller launches while its ledger is refused, and another one
// begins with the ledger of before. What was launched and is gone is not in it: the month is in
// doubt until somebody accepts it, also if a new month has begun.
func TestLaunchedWhileRefused(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		after    time.Duration
		launched time.Duration
		doubt    string
	}{
		"launched meanwhile":      {after: 3 * time.Hour, launched: 2 * time.Hour, doubt: "while the ledger was not stored"},
		"launched before":         {after: 3 * time.Hour, launched: -time.Minute},
		"a leader that just died": {after: 5 * time.Minute, launched: 2 * time.Minute},
		"in the month before":     {after: 25 * 24 * time.Hour, launched: 24 * 24 * time.Hour, doubt: "while the ledger was not stored"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c, strings.ReplaceAll(name, " ", "-"), middle)
			o.want(t, o.keeper(), "before", 1, "")
			o.clock.Step(tc.after)
			k := o.keeper()
			s := &model.Snapshot{
				Time: o.clock.Now(), Pools: []model.Pool{{Name: "general"}},
				Nodes: []model.Node{{
					Name: "b", Claim: "b", InstanceType: "m5.large", CapacityType: model.OnDemand, Price: rate,
					LaunchedAt: o.start.Add(tc.launched), Bought: &model.Bought{Price: rate},
				}},
			}
			if err := k.Count(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if (tc.doubt == "") != (s.SpentDoubt == "") || !strings.Contains(s.SpentDoubt, tc.doubt) || o.told("LedgerLost") != (tc.doubt != "") {
				t.Fatalf("doubt %q, want %q, and an event if there is one", s.SpentDoubt, tc.doubt)
			}
			if tc.doubt == "" {
				return
			}
			o.accept(t, s.SpentDoubt)
			o.clock.Step(time.Minute)
			if _, doubt := o.count(t, k); doubt != "" {
				t.Errorf("accepted: doubt %q", doubt)
			}
		})
	}
}

// TestRecordsHaveLabels: what is written through a Writer has the labels that are demanded, and is stored. Labels of the
// controller's own domain, by which it knows policies, are left out.
func TestRecordsHaveLabels(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	o := refusedOffice(t, c, "labelled")
	demand.Label(t, c, o.namespace, "owner")
	k := o.keeper()
	k.Client = &configmap.Writer{Client: c, Events: o.events, Clock: o.clock, Labels: map[string]string{"owner": "platform", karpv1.LabelPolicy: "true"}}
	o.want(t, k, "with a label", 1, "")
	cm := o.object(ledger.Name)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(cm), cm); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"owner": "platform"}, cm.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if o.told("RecordRefused") {
		t.Error("a refusal is told, and there was none")
	}
}

// TestRefusalIsTold: a refusal is told once, again after an hour, and shown by a metric until the record is accepted.
func TestRefusalIsTold(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	o := refusedOffice(t, c, "told")
	end := demand.Label(t, c, o.namespace, "owner")
	registry := prometheus.NewRegistry()
	w := &configmap.Writer{Client: c, Events: o.events, Clock: o.clock, Metrics: configmap.NewMetrics(registry)}
	for _, step := range []struct {
		reason   string
		after    time.Duration
		accepted bool
		told     bool
		metric   float64
	}{
		{reason: "the first refusal", told: true, metric: 1},
		{reason: "soon after", after: time.Minute, metric: 1},
		{reason: "it lasts", after: time.Hour, told: true, metric: 1},
		{reason: "it is accepted", after: time.Minute, accepted: true},
	} {
		o.clock.Step(step.after)
		if step.accepted {
			end()
		}
		if err := w.Create(t.Context(), o.object("spokeshave-told")); configmap.Refused(err) == step.accepted {
			t.Errorf("%s: %v", step.reason, err)
		}
		if got := o.told("RecordRefused the API server refuses what the controller writes: "); got != step.told {
			t.Errorf("%s: told %v, want %v", step.reason, got, step.told)
		}
		families, err := registry.Gather()
		if err != nil || len(families) != 1 || families[0].GetMetric()[0].GetGauge().GetValue() != step.metric {
			t.Errorf("%s: metrics %v, %v, want %v", step.reason, families, err, step.metric)
		}
	}
}
