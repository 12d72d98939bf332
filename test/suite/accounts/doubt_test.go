package accounts

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

// rate is what the only node costs, in micro-dollars per hour.
const rate = 96_000

// office is an API server with a namespace for each case, and the clock of the machine
// on which the controllers run.
type office struct {
	client    client.Client
	namespace string
	clock     *clocktesting.FakeClock
	events    *events.FakeRecorder
	start     time.Time
	tolerance time.Duration
	// decided is set after the first count: the node is then known to be launched by a
	// decision, so that there must be a ledger.
	decided bool
	// beside are nodes that run besides.
	beside []model.Node
}

// newOffice returns an office whose clock shows start.
func newOffice(t *testing.T, c client.Client, name string, start time.Time) *office {
	t.Helper()
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	return &office{client: c, namespace: name, clock: clocktesting.NewFakeClock(start), events: events.NewFakeRecorder(100), start: start}
}

// keeper is a new leader.
func (o *office) keeper() *ledger.Tracker {
	return &ledger.Tracker{Client: o.client, Live: o.client, Events: o.events, Namespace: o.namespace, Clock: o.clock, ClockTolerance: o.tolerance}
}

// count has a keeper count a snapshot in which one node runs since an hour before the
// start, and returns the micro-dollars of the month and the doubt.
func (o *office) count(t *testing.T, k *ledger.Tracker) (micro int64, doubt string) {
	t.Helper()
	s := &model.Snapshot{
		Time: o.clock.Now(), Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{
			Name: "a", Claim: "a", InstanceType: "m5.large", CapacityType: model.OnDemand, Price: rate,
			LaunchedAt: o.start.Add(-time.Hour),
		}},
	}
	if o.decided {
		s.Nodes[0].Bought = &model.Bought{Price: rate}
	}
	o.decided = true
	s.Nodes = append(s.Nodes, o.beside...)
	if err := k.Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s.Spent[0].Micro, s.SpentDoubt
}

// want fails the test when a count differs. hours is the expected cost in hours of the
// node, less what of the hour before the start was in another month.
func (o *office) want(t *testing.T, k *ledger.Tracker, what string, hours float64, doubt string) {
	t.Helper()
	if month := time.Date(o.start.UTC().Year(), o.start.UTC().Month(), 1, 0, 0, 0, 0, time.UTC); o.start.Sub(month) < time.Hour {
		hours -= (time.Hour - o.start.Sub(month)).Hours()
	}
	micro, got := o.count(t, k)
	if float64(micro) < hours*rate-100 || float64(micro) > hours*rate+100 {
		t.Errorf("%s: the month has cost %.3f hours, want %.3f", what, float64(micro)/rate, hours)
	}
	if (doubt == "") != (got == "") || !strings.Contains(got, doubt) {
		t.Errorf("%s: doubt %q, want %q", what, got, doubt)
	}
}

func (o *office) object(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}}
}

func (o *office) delete(t *testing.T, name string) {
	t.Helper()
	if err := o.client.Delete(t.Context(), o.object(name)); err != nil {
		t.Fatal(err)
	}
}

func (o *office) told(reason string) bool {
	found := false
	for {
		select {
		case text := <-o.events.Events:
			found = found || strings.Contains(text, reason)
		default:
			return found
		}
	}
}

// accept runs what the doubt's text tells the user to run.
func (o *office) accept(t *testing.T, doubt string) {
	t.Helper()
	key, value, ok := strings.Cut(doubt[strings.LastIndex(doubt, " ")+1:], "=")
	if !ok || !strings.Contains(doubt, "kubectl -n "+o.namespace+" annotate configmap "+ledger.Name) {
		t.Fatalf("no command in %q", doubt)
	}
	cm := &corev1.ConfigMap{}
	if err := o.client.Get(t.Context(), client.ObjectKeyFromObject(o.object(ledger.Name)), cm); err != nil {
		t.Fatal(err)
	}
	base := client.MergeFrom(cm.DeepCopy())
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, key, value)
	if err := o.client.Patch(t.Context(), cm, base); err != nil {
		t.Fatal(err)
	}
}

// middle is far from the turn of a month: see month_test.go for that.
var middle = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// TestClockSteps: a clock that is wrong adds nothing to the ledger and ends no month,
// and monthly caps let nothing through until it is right again.
func TestClockSteps(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for i, step := range []time.Duration{40 * 24 * time.Hour, time.Hour, -40 * 24 * time.Hour, -time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			right := time.Now()
			o := newOffice(t, c, fmt.Sprintf("step-%d", i), right)
			o.tolerance = 2 * time.Minute
			k := o.keeper()
			before, doubt := o.count(t, k)
			if doubt != "" {
				t.Fatalf("doubt %q", doubt)
			}
			o.clock.Step(step)
			for _, each := range []*ledger.Tracker{k, o.keeper()} {
				o.clock.Step(10 * time.Second)
				micro, doubt := o.count(t, each)
				if !strings.Contains(doubt, "the clock of the controller's machine differs by") || micro != before {
					t.Errorf("the clock is wrong by %s: %d micro-dollars after %d, doubt %q", step, micro, before, doubt)
				}
			}
			o.clock.SetTime(right.Add(time.Minute))
			for _, each := range []*ledger.Tracker{k, o.keeper()} {
				o.clock.Step(10 * time.Second)
				if micro, doubt := o.count(t, each); doubt != "" || micro < before || micro > before+rate/20 {
					t.Errorf("the clock is right again: %d micro-dollars after %d, doubt %q", micro, before, doubt)
				}
			}
		})
	}
}

// TestLedgerFromTheFuture: a ledger that a wrong clock has taken into the next month is
// replaced by the one that was kept before.
func TestLedgerFromTheFuture(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "future", middle)
	o.want(t, o.keeper(), "before", 1, "")
	o.clock.Step(time.Minute)
	o.want(t, o.keeper(), "a minute later", 1+1./60, "")
	o.clock.Step(40 * 24 * time.Hour) // and nobody compares the clocks
	o.count(t, o.keeper())
	o.clock.SetTime(middle.Add(5 * time.Minute))
	o.want(t, o.keeper(), "the clock is right again", 1+5./60, "")
	if !o.told("LedgerLost") {
		t.Error("no event")
	}

	// Without the earlier ledger there is a doubt.
	o.clock.Step(40 * 24 * time.Hour)
	o.count(t, o.keeper())
	o.delete(t, ledger.PreviousName)
	o.clock.SetTime(middle.Add(6 * time.Minute))
	o.want(t, o.keeper(), "no earlier ledger", 1+6./60, "ahead of the clock")
}

// TestLedgerDeleted: a ledger that is missing is restored from the earlier one; without
// that, the estimate has to be accepted.
func TestLedgerDeleted(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "deleted", middle)
	k := o.keeper()
	o.want(t, k, "before", 1, "")
	o.delete(t, ledger.Name)
	o.clock.Step(2 * time.Minute)
	o.want(t, k, "the leader has it in memory", 1+2./60, "")
	o.delete(t, ledger.Name)
	o.clock.Step(time.Minute)
	other := o.keeper()
	o.want(t, other, "another has the earlier one", 1+3./60, "")
	if at, now := lostAt(t, other), o.clock.Now().Unix(); at != now || lostAt(t, k) != 0 {
		t.Errorf("the loss without doubt is told for %d, want %d, and by the leader that had it in memory for %d, want 0", at, now, lostAt(t, k))
	}

	o.delete(t, ledger.Name)
	o.delete(t, ledger.PreviousName)
	o.clock.Step(time.Minute)
	k = o.keeper()
	_, doubt := o.count(t, k)
	if !strings.Contains(doubt, "the ledger is missing") || !o.told("LedgerLost") {
		t.Fatalf("nothing is left: doubt %q, or no event", doubt)
	}
	o.clock.Step(time.Minute)
	o.want(t, o.keeper(), "the doubt outlives a handover", 1+5./60, "the ledger is missing")
	o.accept(t, doubt)
	o.clock.Step(time.Minute)
	o.want(t, k, "accepted", 1+6./60, "")
	o.want(t, o.keeper(), "accepted, for others too", 1+6./60, "")
	if !o.told("LedgerAccepted") {
		t.Error("no event of the acceptance")
	}
}

// lostAt returns what the metric says of when the ledger was lost.
func lostAt(t *testing.T, k *ledger.Tracker) int64 {
	t.Helper()
	return int64(metric(t, k, "spokeshave_spend_ledger_lost_timestamp_seconds"))
}

// metric returns a metric without labels of a keeper.
func metric(t *testing.T, k *ledger.Tracker, name string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(ledger.NewCollector(k))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// TestFirstLedger: a cluster in which nothing was launched yet, or only by others, is no
// reason for a doubt.
func TestFirstLedger(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "first", middle)
	s := &model.Snapshot{
		Time: o.clock.Now(), Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{Name: "a", Claim: "a", InstanceType: "m5.large", Price: rate, LaunchedAt: middle.Add(-time.Hour)}},
	}
	if err := o.keeper().Count(t.Context(), s); err != nil || s.SpentDoubt != "" || s.Spent[0].Micro != rate {
		t.Errorf("err %v, doubt %q, %+v", err, s.SpentDoubt, s.Spent)
	}
}

// TestLedgerLostWithoutNodes: the ledger and its copy are gone, and nothing runs. The history shows that there was a ledger, so
// that the month does not begin at nothing; one of a year ago does not.
func TestLedgerLostWithoutNodes(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		later time.Duration
		doubt string
	}{
		"in the month": {later: time.Hour, doubt: "there is a history of spend"},
		"a month on":   {later: 30 * 24 * time.Hour, doubt: "there is a history of spend"},
		"a year on":    {later: 365 * 24 * time.Hour},
	} {
		o := newOffice(t, c, "idle-"+strings.ReplaceAll(name, " ", "-"), middle)
		k := o.keeper()
		o.want(t, k, "before", 1, "")
		for range 2 {
			o.clock.Step(24 * time.Hour)
			o.count(t, k)
		}
		o.delete(t, ledger.Name)
		o.delete(t, ledger.PreviousName)
		o.told("")
		o.clock.Step(tc.later)
		s := &model.Snapshot{Time: o.clock.Now(), Pools: []model.Pool{{Name: "general"}}}
		if err := o.keeper().Count(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if (tc.doubt == "") != (s.SpentDoubt == "") || !strings.Contains(s.SpentDoubt, tc.doubt) || o.told("LedgerLost") != (tc.doubt != "") {
			t.Errorf("%s: doubt %q, want %q and an event with it", name, s.SpentDoubt, tc.doubt)
		}
	}
}

// away is an API server that does not answer.
type away struct{ client.Reader }

func (away) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return context.DeadlineExceeded
}

// TestLedgerUnreachable: nothing is decided before the ledger could be read.
func TestLedgerUnreachable(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "away", middle)
	k := o.keeper()
	k.Live = away{}
	if err := k.Count(t.Context(), &model.Snapshot{Time: middle}); err == nil {
		t.Error("counted without the ledger")
	}
}

// TestFiveThousandNamespaces: the sums of 5,000 namespaces fit into the ConfigMap, each
// under its name.
func TestFiveThousandNamespaces(t *testing.T) {
	o := newOffice(t, apiserver.Start(t).Client(t), "wide", middle)
	s := &model.Snapshot{Time: middle, Pools: []model.Pool{{Name: "general"}}, Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 100}}}}
	const namespaces, perNode, workloads = 5000, 10, 4
	for i := range int32(namespaces * workloads) {
		if i%perNode == 0 {
			s.Nodes = append(s.Nodes, model.Node{
				Name: fmt.Sprintf("ip-10-0-%d", i), Claim: fmt.Sprintf("general-%d", i), InstanceType: "m5.large", CapacityType: model.OnDemand,
				Price: rate, LaunchedAt: middle.Add(-time.Hour), Allocatable: model.Resources{model.CPU: 1000},
			})
		}
		s.Pods = append(s.Pods, model.Pod{
			Namespace: fmt.Sprintf("team-%x-namespace-%d", (i%namespaces)*7919, i%namespaces), Name: fmt.Sprint(i),
			Workload: fmt.Sprintf("Deployment/service-%d", i), Node: i / perNode,
		})
	}
	if err := o.keeper().Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{}
	if err := o.client.Get(t.Context(), client.ObjectKeyFromObject(o.object(ledger.Name)), cm); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d namespaces with %d workloads: %d bytes in gzip", namespaces, len(s.Pods), len(cm.BinaryData[ledger.Key]))
	if size := len(cm.BinaryData[ledger.Key]); size > 512<<10 {
		t.Errorf("%d bytes, want at most half of what a ConfigMap holds", size)
	}
	s.Nodes, s.Pods, s.Time = nil, nil, s.Time.Add(time.Second)
	if err := o.keeper().Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, e := range s.Spent {
		if strings.HasPrefix(e.Scope, "namespace/team-") && e.Micro >= workloads*rate/perNode-workloads {
			found++
		}
	}
	if found != namespaces || slices.ContainsFunc(s.Spent, func(e model.Spent) bool { return e.Scope == "namespace/*" }) {
		t.Errorf("after a handover %d of %d namespaces have their sums", found, namespaces)
	}
}
