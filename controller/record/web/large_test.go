package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/journal"
)

// large is a server for a large cluster: 2,000 nodes and 20,000 pods in 100 namespaces
// and four NodePools, 500 pods that wait, and a journal that is full.
func large(tb testing.TB) *Server {
	tb.Helper()
	const nodes, pods, waiting, entries = 2_000, 20_000, 500, 60
	zones := []string{"us-east-1a", "us-east-1b", "us-east-1c"}
	s := &model.Snapshot{Time: time.Date(2026, 3, 11, 10, 0, 0, 0, time.UTC)}
	for i := range 4 {
		s.Pools = append(s.Pools, model.Pool{Name: fmt.Sprint("general-", i)})
	}
	for i := range 200 {
		s.Specs = append(s.Specs, model.PodSpec{Requests: model.Resources{model.CPU: int64(100 + 7*i), model.Memory: int64(200+11*i) << 20, model.PodSlots: 1}})
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, model.Node{
			Name: fmt.Sprintf("ip-10-0-%d-%d.us-east-1.compute.internal", i/250, i%250), Claim: fmt.Sprintf("general-%08x", i), Pool: int32(i % 4),
			State: model.Initialized, InstanceType: "m7g.4xlarge", Zone: zones[i%3], CapacityType: model.Spot, Price: model.Price(200_000 + i),
			Allocatable: model.Resources{model.CPU: 15_900, model.Memory: 60 << 30, model.PodSlots: 110}, LaunchedAt: s.Time.Add(-time.Hour),
		})
	}
	d := &decide.Decision{Time: s.Time, Policies: []policy.Use{{Name: "budget", Namespace: "spokeshave", Hook: policy.HookCeiling, Calls: 2}}}
	for i := range pods + waiting {
		p := model.Pod{
			Namespace: fmt.Sprintf("team-%03d", i%100), Name: fmt.Sprintf("web-7d9c5b6f4d-%05d", i), Workload: fmt.Sprint("Deployment/web-", i%700),
			Spec: int32(i % len(s.Specs)), Node: int32(i % nodes),
		}
		if i >= pods {
			p.Node = -1
			u := model.Unplaced{Pod: int32(i)}
			for k := range 100 { // of which most NodePools have gone since
				u.Reasons = append(u.Reasons, model.Reason{Code: model.TooLarge, Pool: fmt.Sprint("general-", k), Message: fmt.Sprint("too large: kind ", i%40)})
			}
			d.Plan.Unplaced = append(d.Plan.Unplaced, u)
		}
		s.Pods = append(s.Pods, p)
	}
	for i := range nodes {
		d.Disruptions = append(d.Disruptions, decide.Disruption{Node: int32(i), Method: decide.MethodUnderutilized, Reason: fmt.Sprint("reason ", i%90)})
	}
	ledger := spend.New(s)
	server := &Server{Board: &Board{}, Policies: func() []policy.Status {
		return slices.Repeat([]policy.Status{{Namespace: "spokeshave", Name: "budget", State: policy.StateActive, Hooks: []policy.Hook{policy.HookCeiling}, Reason: strings.Repeat("reason ", 20)}}, 1000)
	}, Ledger: func() *spend.Ledger { return &ledger }}
	j := journal.New(entries, 32<<20)
	for i := range entries {
		e := *d
		e.ID, e.Time = fmt.Sprintf("%016x", i), s.Time.Add(time.Duration(i-entries)*time.Minute)
		for k := range 40 {
			e.Plan.Nodes = append(e.Plan.Nodes, model.PlannedNode{Pool: int32(k % 4), Pods: []int32{int32(100*i + k)}, Options: []model.Option{{InstanceType: "m7g.4xlarge", Zone: "us-east-1a", CapacityType: model.Spot, Price: 200_000}}})
		}
		j.Add(tb.Context(), s, &e)
	}
	server.Journal = j.Entries
	for i := range points {
		server.Board.curve = append(server.Board.curve, Point{s.Time.Add(time.Duration(i-points) * time.Minute), model.Price(400_000_000 + 1000*i), 300_000_000})
	}
	server.Board.Add(s, d)
	return server
}

// mostOf is the largest size of a view in bytes, whatever the size of the cluster. The
// overview is what a reader waits for first.
func mostOf(path string) int {
	if path == "/" {
		return 96 << 10
	}
	return 320 << 10
}

// TestLargeClusterIsBounded: no view of a large cluster is larger than its bound, and
// lists say that there is more.
func TestLargeClusterIsBounded(t *testing.T) {
	s := large(t)
	node := "ip-10-0-0-1.us-east-1.compute.internal"
	for _, path := range []string{
		"/", "/?view=spend", "/?view=waiting", "/?view=nodes", "/?view=nodes&page=40", "/?view=decisions", "/?view=decisions&q=web", "/?view=decisions&kind=keep",
		"/?view=savings", "/?view=policies", "/?view=namespace&name=team-007", "/?view=nodepool&name=general-1", "/?view=node&name=" + node,
		"/?view=decision&name=000000000000003b", "/?view=pod&name=team-000/web-7d9c5b6f4d-20000",
	} {
		code, _, text := get(t, s, "localhost:8082", path)
		if code != http.StatusOK || len(text) > mostOf(path) {
			t.Errorf("%s: code %d, %d bytes, want at most %d", path, code, len(text), mostOf(path))
		}
		t.Logf("%7d bytes %s", len(text), path)
	}
}

// TestSlowReadersHoldUpNothing: while readers do not read, the decision loop goes on, and
// further readers are answered.
func TestSlowReadersHoldUpNothing(t *testing.T) {
	s := large(t)
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	for range 3 * renders {
		go h.ServeHTTP(&stuck{header: http.Header{}, until: release}, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	}
	defer close(release)
	state := s.Board.latest()
	s.Board.Add(state.Snapshot, state.Decision)
	if code, _, _ := get(t, s, "localhost", "/?view=nodes"); code != http.StatusOK {
		t.Errorf("code %d", code)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?view=savings", http.NoBody))
	if w.Code != http.StatusOK {
		t.Errorf("code %d", w.Code)
	}
}

// stuck is a reader that does not read.
type stuck struct {
	header http.Header
	until  chan struct{}
}

func (s *stuck) Header() http.Header { return s.header }
func (s *stuck) WriteHeader(int)     {}
func (s *stuck) Write(p []byte) (int, error) {
	<-s.until
	return len(p), nil
}

// BenchmarkView reports how long a view of a large cluster takes: the first time after a
// decision, when the cluster is summarized, and again. Besides the bytes of the answer it
// reports what the page keeps in memory after it.
func BenchmarkView(b *testing.B) {
	s := large(b)
	h, err := s.Handler()
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range []string{"/", "/?view=spend", "/?view=nodes", "/?view=waiting", "/?view=decisions&q=web", "/?view=savings"} {
		for _, when := range []string{"first", "again"} {
			b.Run(path[1:]+"/"+when, func(b *testing.B) {
				b.ReportAllocs()
				size := 0
				for b.Loop() {
					if when == "first" {
						s.Board.summary.Store(nil)
					}
					w := &counted{header: http.Header{}}
					h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
					size = w.bytes
				}
				b.ReportMetric(float64(size), "page-bytes")
			})
		}
	}
	b.Run("kept", func(b *testing.B) {
		of := s.Board.latest().Snapshot
		var before, after runtime.MemStats
		for b.Loop() {
			s.Board.summary.Store(nil)
			runtime.GC()
			runtime.ReadMemStats(&before)
			s.summary(of)
			runtime.GC()
			runtime.ReadMemStats(&after)
		}
		b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "kept-bytes")
	})
}

// counted counts what is written.
type counted struct {
	header http.Header
	bytes  int
}

func (c *counted) Header() http.Header { return c.header }
func (c *counted) WriteHeader(int)     {}
func (c *counted) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return io.Discard.Write(p)
}
