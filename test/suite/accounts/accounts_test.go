// Package accounts tests, on a real API server, that the ledger survives what
// happens to controllers: a restart, a handover, a ConfigMap that was spoilt.
package accounts

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

const namespace = "spokeshave"

// now is far from the end of a month, whenever the test runs.
var now = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func snapshot(after time.Duration) *model.Snapshot {
	return &model.Snapshot{
		Time:  now.Add(after),
		Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{
			Name: "a", Claim: "a", Pool: 0, InstanceType: "m5.large", CapacityType: model.OnDemand,
			Price: 96_000, LaunchedAt: now.Add(-time.Hour),
		}},
	}
}

func TestLedgerSurvives(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	told := events.NewFakeRecorder(10)
	keeper := func() *ledger.Tracker {
		return &ledger.Tracker{Client: c, Live: c, Events: told, Namespace: namespace, Clock: clock.RealClock{}}
	}
	count := func(k *ledger.Tracker, after time.Duration) int64 {
		t.Helper()
		s := snapshot(after)
		if err := k.Count(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		return s.Spent[0].Micro
	}
	if got := count(keeper(), 0); got != 96_000 {
		t.Fatalf("a new ledger knows of %d micro-dollars, want the hour since the launch", got)
	}
	// The node is gone by the time the next leader looks: what it cost is not.
	next := keeper()
	s := snapshot(time.Hour)
	s.Nodes = nil
	if err := next.Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := s.Spent[0].Micro; got != 2*96_000 {
		t.Errorf("after a handover the ledger knows of %d micro-dollars, want two hours", got)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ledger.Name}}
	cm.BinaryData = map[string][]byte{ledger.Key: []byte("spoilt")}
	if err := c.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	if got := count(keeper(), time.Hour); got != 2*96_000 {
		t.Errorf("begun anew the ledger knows of %d micro-dollars, want what the running node tells", got)
	}
	select {
	case <-told.Events:
	default:
		t.Error("nobody is told that the ledger was lost")
	}
}

// TestSavingsSurvive: the next leader knows what the one before has saved, by day, and does
// not count again a consolidation whose nodes it still sees.
func TestSavingsSurvive(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	const saved = "saved"
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: saved}}); err != nil {
		t.Fatal(err)
	}
	moment := clocktesting.NewFakePassiveClock(now)
	keeper := func() *ledger.Tracker {
		return &ledger.Tracker{Client: c, Live: c, Events: events.NewFakeRecorder(10), Namespace: saved, Clock: moment}
	}
	count := func(k *ledger.Tracker, after time.Duration, ids ...string) {
		t.Helper()
		s, d := snapshot(after), &decide.Decision{}
		moment.SetTime(s.Time)
		if err := k.Count(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			d.Commands = append(d.Commands, decide.Command{ID: id, Method: decide.MethodUnderutilized, Stage: decide.Finish, Nodes: []int32{0}, Savings: 1000})
		}
		k.CountSaved(s, d)
	}
	first, second := keeper(), keeper()
	count(first, 0, "a", "b")
	count(first, 2*time.Minute) // writes what the round before has counted
	count(second, 3*time.Minute, "b")
	count(second, 24*time.Hour, "c")
	day := now.Truncate(24 * time.Hour)
	want := []spend.Saved{{Day: day, Count: 2, Rate: 2000}, {Day: day.AddDate(0, 0, 1), Count: 1, Rate: 1000}}
	if diff := cmp.Diff(want, second.Latest().Saved); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
}

// TestLedgerFitsItsConfigMap: a month of many teams, NodePools and namespaces, with
// names that no compression makes shorter, is kept, and nothing of the whole is lost.
func TestLedgerFitsItsConfigMap(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	const many = "many"
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: many}}); err != nil {
		t.Fatal(err)
	}
	r := rand.NewChaCha8([32]byte{1})
	random := func() string {
		text := make([]byte, 30)
		_, _ = r.Read(text) // never fails
		return hex.EncodeToString(text)
	}
	s := snapshot(0)
	s.Pools, s.Nodes = nil, nil
	s.Specs = []model.PodSpec{{Requests: model.Resources{model.CPU: 100}}}
	for i := range int32(3000) {
		labels := map[string]string{}
		for range 10 {
			labels[random()] = random()
		}
		s.Pools = append(s.Pools, model.Pool{Name: random(), Catalog: -1, Labels: labels})
		s.Nodes = append(s.Nodes, model.Node{
			Name: random(), Claim: random(), Pool: i, InstanceType: "m5.large", CapacityType: model.OnDemand,
			Price: 96_000 + model.Price(i), LaunchedAt: now.Add(-time.Hour), Allocatable: model.Resources{model.CPU: 1000},
		})
		s.Pods = append(s.Pods, model.Pod{Namespace: random(), Name: random(), Workload: "Deployment/" + random(), Node: i})
	}
	keeper := func() *ledger.Tracker {
		return &ledger.Tracker{Client: c, Live: c, Events: events.NewFakeRecorder(10), Namespace: many, Clock: clock.RealClock{}}
	}
	if err := keeper().Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	whole := s.Spent[0]
	cm := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: many, Name: ledger.Name}, cm); err != nil {
		t.Fatalf("the ledger is not kept: %v", err)
	}
	if size := len(cm.BinaryData[ledger.Key]); size < 200<<10 {
		t.Errorf("%d bytes: too few to try anything", size)
	}
	s.Time, s.Nodes, s.Pods = s.Time.Add(time.Second), nil, nil
	if err := keeper().Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	dearest := "nodepool/" + s.Pools[2999].Name
	at := slices.IndexFunc(s.Spent, func(e model.Spent) bool { return e.Scope == dearest })
	if s.Spent[0].Scope != whole.Scope || s.Spent[0].Micro < whole.Micro || at < 0 {
		t.Errorf("after a handover %+v of %+v are known; of the dearest NodePool: %v", s.Spent[0], whole, at >= 0)
	}
}
