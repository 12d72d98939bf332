package accounts

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
)

const history = "history"

// stored returns a history as its ConfigMap has it, nil for none, and the year of its label.
func stored(t *testing.T, c client.Client, at time.Time) (*spend.History, string) {
	t.Helper()
	cm := &corev1.ConfigMap{}
	err := c.Get(t.Context(), types.NamespacedName{Namespace: history, Name: spend.HistoryName(at)}, cm)
	if apierrors.IsNotFound(err) {
		return nil, ""
	}
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(cm.BinaryData[spend.HistoryKey]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	h, err := spend.DecodeHistory(text)
	if err != nil {
		t.Fatal(err)
	}
	return &h, cm.Labels["spokeshave.dev/spend-year"]
}

// days returns what each period of a history has cost.
func days(h *spend.History) map[string]int64 {
	out := map[string]int64{}
	for i := range h.Periods {
		total := h.Periods[i].Total()
		out[h.Periods[i].From.Format(time.DateOnly)] = total.Micro
	}
	return out
}

// olderChart is a chart that does not grant the history to the controller.
type olderChart struct{ client.Client }

func (c olderChart) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if strings.HasPrefix(o.GetName(), "spokeshave-spend-") {
		return errors.New("the chart is older than the controller")
	}
	return c.Client.Create(ctx, o, opts...) //nolint:wrapcheck // as the client's own
}

// TestHistory: days that have ended go to the ConfigMap of their month; they stay in the
// ledger while that cannot be written, across a change of leader; a year later the month
// replaces itself.
func TestHistory(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: history}}); err != nil {
		t.Fatal(err)
	}
	keeper := func(c client.Client) *ledger.Tracker {
		return &ledger.Tracker{Client: c, Live: c, Events: events.NewFakeRecorder(10), Namespace: history, Clock: clock.RealClock{}}
	}
	count := func(k *ledger.Tracker, after time.Duration) {
		t.Helper()
		if err := k.Count(t.Context(), snapshot(after)); err != nil {
			t.Fatal(err)
		}
	}
	older := olderChart{c}
	count(keeper(older), 0) // Tuesday noon
	count(keeper(older), 13*time.Hour)
	if h, _ := stored(t, c, now); h != nil {
		t.Fatal("the history was written, although it was refused")
	}
	count(keeper(c), 14*time.Hour)
	h, year := stored(t, c, now)
	if h == nil || year != "2026" {
		t.Fatalf("the history was not written, or has the year %q", year)
	}
	if diff := cmp.Diff(map[string]int64{"2026-03-10": 13 * 96_000}, days(h)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	k := keeper(c)
	count(k, 37*time.Hour)
	if h, _ = stored(t, c, now); len(h.Periods) != 2 || days(h)["2026-03-11"] != 24*96_000 {
		t.Errorf("after another day: %v", days(h))
	}
	all, err := k.Periods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"2026-03-10": 13 * 96_000, "2026-03-11": 24 * 96_000, "2026-03-12": 96_000}
	if diff := cmp.Diff(want, days(&spend.History{Periods: all})); diff != "" {
		t.Errorf("what a reader is shown, with the day that runs -want +got\n%s", diff)
	}
	count(keeper(c), 38*time.Hour) // a replica that has not seen that it was written writes it again
	if again, _ := stored(t, c, now); !cmp.Equal(h, again) {
		t.Errorf("written twice: %s", cmp.Diff(h, again))
	}
	row := h.Periods[1].Rows[0]
	if row.Pool != "general" || row.Family != "m5" || row.Kind != spend.Idle {
		t.Errorf("a row of what runs: %+v", row)
	}
	// What cannot be read is replaced, as is what is a year old.
	last := h.With(&spend.Period{From: now.AddDate(-1, 0, 0), To: now.AddDate(-1, 0, 1)})
	last.Month, last.Periods = spend.NewHistory(now.AddDate(-1, 0, 0)).Month, last.Periods[:1]
	text, err := last.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, spoilt := range map[string][]byte{"spoilt": []byte("spoilt"), "of another year": compressed(t, text)} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: history, Name: spend.HistoryName(now)}, BinaryData: map[string][]byte{spend.HistoryKey: spoilt}}
		if err := c.Update(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: history, Name: spend.LedgerName}}); err != nil {
			t.Fatal(err)
		}
		k := keeper(c)
		count(k, 0)
		count(k, 13*time.Hour)
		count(keeper(c), 14*time.Hour)
		if h, _ := stored(t, c, now); h == nil || !h.Month.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) || len(h.Periods) == 0 {
			t.Errorf("%s: it was not replaced: %+v", name, h)
		}
	}
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
