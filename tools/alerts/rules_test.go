package alerts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/teststorage"
)

const file = "../../charts/spokeshave/files/rules.yaml"

// step is how far apart samples and evaluations are.
const step = time.Minute

// world is a Prometheus with some series, whose rules are evaluated minute by minute.
type world struct {
	store  *teststorage.TestStorage
	groups map[string]*rules.Group
	now    time.Time
}

// newWorld loads series, written one a line as in promtool's unit tests: a sample for each minute.
func newWorld(t *testing.T, series string) *world {
	t.Helper()
	store := promqltest.LoadedStorage(t, "load 1m\n\t"+strings.TrimSpace(series))
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 100_000)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(engine, store), AppendableV2: store, Queryable: store, Context: t.Context(),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Registerer: prometheus.NewRegistry(),
		NotifyFunc: func(_ context.Context, _ string, _ ...*rules.Alert) {},
	})
	groups, errs := manager.LoadGroups(step, labels.EmptyLabels(), "", nil, false, file)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return &world{store: store, groups: groups, now: time.Unix(0, 0).UTC()}
}

// until evaluates all rules each minute, up to a time since the beginning.
func (w *world) until(t *testing.T, end time.Duration) {
	t.Helper()
	for ; w.now.Sub(time.Unix(0, 0)) <= end; w.now = w.now.Add(step) {
		for _, g := range w.groups {
			g.Eval(t.Context(), w.now)
			for _, r := range g.Rules() {
				if err := r.LastError(); err != nil {
					t.Fatalf("%s at %s: %v", r.Name(), w.now.Format(time.TimeOnly), err)
				}
			}
		}
	}
}

// firing returns the summaries of what fires of an alert.
func (w *world) firing(t *testing.T, name string) []string {
	t.Helper()
	var out []string
	for _, g := range w.groups {
		for _, r := range g.AlertingRules() {
			if r.Name() != name {
				continue
			}
			for _, a := range r.ActiveAlerts() {
				if a.State == rules.StateFiring {
					out = append(out, a.Annotations.Get("summary"))
				}
			}
		}
	}
	return out
}

// recorded returns what a recording rule has recorded last, by the labels beside its name.
func (w *world) recorded(t *testing.T, name string) map[string]string {
	t.Helper()
	at := w.now.Add(-step)
	q, err := w.store.Querier(at.UnixMilli(), at.UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close() //nolint:errcheck // it only reads
	out := map[string]string{}
	found := q.Select(t.Context(), false, nil, labels.MustNewMatcher(labels.MatchEqual, labels.MetricName, name))
	for found.Next() {
		samples := found.At().Iterator(nil)
		for samples.Next() != chunkenc.ValNone {
			_, v := samples.At()
			key := labels.NewBuilder(found.At().Labels()).Del(labels.MetricName).Labels().String()
			out[key] = fmt.Sprintf("%.4g", v)
		}
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
