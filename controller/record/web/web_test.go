package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/record/journal"
)

func server(t *testing.T, rounds int) *Server {
	t.Helper()
	s := &Server{Board: &Board{}, Policies: func() []policy.Status {
		return []policy.Status{{Namespace: "system", Name: "budget", State: policy.StateRejected, Reason: `bad <script>alert("x")</script>`}}
	}}
	j := journal.New(5, 32<<20)
	s.Journal = j.Entries
	for minute := range rounds {
		snap := &model.Snapshot{
			Time:  time.Date(2026, 3, 11, 9, minute, 0, 0, time.UTC),
			Pools: []model.Pool{{Name: "general"}},
			Nodes: []model.Node{{Name: "n1", Claim: "c1", InstanceType: "m.1", Price: 500_000, Allocatable: model.Resources{model.CPU: 4000}}},
			Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 1000}}},
			Pods:  []model.Pod{{Namespace: "shop", Name: "web"}, {Namespace: "shop", Name: "late", Node: -1}},
		}
		d := &decide.Decision{
			ID: fmt.Sprint("d", minute), Time: snap.Time,
			Headroom: []decide.CapStatus{{Scope: "cluster", Policy: "budget", Cap: "2.00 $/h", Period: decide.PerHour, Limit: 2, Left: 1_500_000, Burn: 500_000}},
			Plan: model.Plan{
				Nodes:    []model.PlannedNode{{Pods: []int32{1}, Options: []model.Option{{InstanceType: "m.2", Zone: "a", CapacityType: model.Spot, Price: 90_000}}}},
				Unplaced: []model.Unplaced{{Pod: 1, Reasons: []model.Reason{{Message: "cap leaves nothing"}}}},
			},
		}
		s.Board.Add(snap, d)
		j.Add(t.Context(), snap, d)
	}
	return s
}

func get(t *testing.T, s *Server, host, path string) (int, http.Header, string) {
	t.Helper()
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	r.Host = host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, w.Header(), string(body)
}

// tags are the elements of a page by name, with their attributes.
func tags(t *testing.T, text string) map[string][]map[string]string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]map[string]string{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			all := map[string]string{}
			for _, a := range n.Attr {
				all[a.Key] = a.Val
			}
			out[n.Data] = append(out[n.Data], all)
		}
	}
	return out
}

func TestPage(t *testing.T) {
	code, header, text := get(t, server(t, 3), "localhost:8082", "/")
	if code != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Fatalf("%d, %v", code, header)
	}
	for _, want := range []string{
		"0.5000 $/h run, of which pods ask for 0.1250 $/h", "2.00 $/h", "1.5000", "shop/web", "m.2 (spot) in a at 0.0900 $/h",
		"<dt>shop/late</dt>", "cap leaves nothing", "Pods that wait (1)", "1 launched, 1 pods wait", "25&#8239;%", "bad &lt;script&gt;", "state-Rejected", "d0", "d2",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q:\n%s", want, text)
		}
	}
	if strings.Index(text, "decision-d2") > strings.Index(text, "decision-d0") {
		t.Error("the latest decision does not come first")
	}
}

// TestStructure: the page works with a keyboard, a screen reader and a phone.
func TestStructure(t *testing.T) {
	_, _, text := get(t, server(t, 3), "127.0.0.1:8082", "/")
	found := tags(t, text)
	ids := map[string]bool{}
	for _, all := range found {
		for _, attr := range all {
			if id := attr["id"]; id != "" && ids[id] {
				t.Errorf("id %s twice", id)
			}
			ids[attr["id"]] = true
		}
	}
	for _, a := range found["a"] {
		if target, ok := strings.CutPrefix(a["href"], "#"); !ok || !ids[target] {
			t.Errorf("link to %q, which is not on the page", a["href"])
		}
	}
	for _, name := range []string{"script", "link", "img", "iframe"} {
		for _, attr := range found[name] {
			for _, at := range []string{attr["src"], attr["href"]} {
				if strings.Contains(at, "//") {
					t.Errorf("%s from elsewhere: %s", name, at)
				}
			}
		}
	}
	for _, th := range found["th"] {
		if th["scope"] == "" {
			t.Error("a table header that says not what it heads")
		}
	}
	for _, section := range found["section"] {
		if !ids[section["aria-labelledby"]] {
			t.Errorf("section %s has no title", section["id"])
		}
	}
	viewport := slices.ContainsFunc(found["meta"], func(m map[string]string) bool {
		return m["name"] == "viewport" && strings.Contains(m["content"], "width=device-width")
	})
	if !viewport || found["html"][0]["lang"] == "" || len(found["main"]) != 1 || len(found["h1"]) != 1 || len(found["nav"]) != 1 || len(found["section"]) != 5 {
		t.Errorf("viewport %v, html %v, %d main, %d h1, %d nav, %d sections", viewport, found["html"], len(found["main"]), len(found["h1"]), len(found["nav"]), len(found["section"]))
	}
	for _, svg := range found["svg"] {
		if svg["role"] != "img" || svg["aria-label"] == "" {
			t.Errorf("a picture that says nothing: %v", svg)
		}
	}
	if len(found["svg"]) != 1 || len(found["details"]) < 2 {
		t.Errorf("%d pictures, %d details", len(found["svg"]), len(found["details"]))
	}
}

func TestServes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason     string
		rounds     int
		host, path string
		code       int
		want       string
	}{
		"follower": {reason: "says that it does not lead", host: "localhost", path: "/", code: 200, want: "another one leads"},
		"contents": {reason: "for the script, without the frame", rounds: 3, host: "localhost", path: "/contents", code: 200, want: "<section id=\"spend\""},
		"script":   {reason: "comes with the program", rounds: 3, host: "[::1]:8082", path: "/page.js", code: 200, want: "setInterval"},
		"style":    {reason: "so does this", rounds: 3, host: "localhost", path: "/page.css", code: 200, want: "max-width: 48rem"},
		"other":    {reason: "nothing else is there", host: "localhost", path: "/etc/passwd", code: 404},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, text := get(t, server(t, tc.rounds), tc.host, tc.path)
			if code != tc.code || !strings.Contains(text, tc.want) {
				t.Errorf("%s: %d %q", tc.reason, code, text)
			}
		})
	}
}

func TestCurveIsBounded(t *testing.T) {
	var b Board
	for i := range 2 * points {
		b.Add(&model.Snapshot{Time: time.Unix(int64(60*i), 0)}, &decide.Decision{})
		b.Add(&model.Snapshot{Time: time.Unix(int64(60*i+1), 0)}, &decide.Decision{})
	}
	if _, _, curve := b.latest(); len(curve) != points {
		t.Errorf("%d points", len(curve))
	}
}

// TestListsAreBounded: ten thousand nodes and decisions about thousands of nodes do not make
// the page larger than a few megabytes, and it says what it leaves out.
func TestListsAreBounded(t *testing.T) {
	s := server(t, 1)
	const nodes, podsPerNode = 10_000, 20
	snap := &model.Snapshot{Time: time.Date(2026, 3, 11, 10, 0, 0, 0, time.UTC), Pools: []model.Pool{{Name: "general"}}, Specs: []model.PodSpec{{}}}
	d := &decide.Decision{ID: "large", Time: snap.Time}
	for i := range nodes {
		snap.Nodes = append(snap.Nodes, model.Node{Name: fmt.Sprintf("node-%05d", i), Claim: fmt.Sprintf("claim-%05d", i), Price: model.Price(nodes - i)})
		for k := range podsPerNode {
			snap.Pods = append(snap.Pods, model.Pod{Namespace: "shop", Name: fmt.Sprintf("web-%d-%05d-%s", k, i, strings.Repeat("x", 40)), Node: int32(i)})
		}
		d.Disruptions = append(d.Disruptions, decide.Disruption{Node: int32(i), Go: true, Method: "Empty"})
	}
	s.Board.Add(snap, d)
	j := journal.New(60, 32<<20)
	for i := range 60 {
		d.ID = fmt.Sprint("large-", i)
		d.Disruptions[0].Reason = d.ID
		j.Add(t.Context(), snap, d)
	}
	s.Journal = j.Entries
	_, _, text := get(t, s, "localhost:8082", "/")
	if most := 4 << 20; len(text) > most {
		t.Errorf("the page has %d bytes, want at most %d", len(text), most)
	}
	for _, want := range []string{"node-00000", "more nodes, each cheaper", "earlier decisions are left out", "Nodes (10000)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
