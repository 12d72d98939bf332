package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
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
		"0.5000", "25 % requested by pods", "m.2 (spot) in a at 0.0900 $/h", "shop/late", "cap leaves nothing",
		"1 node launched, 1 pod waiting", "bad &lt;script&gt;", "state-Rejected", "d0", "d2", "<title>Spokeshave</title>", "aria-current=\"page\">Overview",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q:\n%s", want, text)
		}
	}
	if strings.Index(text, "decision-d2") > strings.Index(text, "decision-d0") {
		t.Error("the latest decision does not come first")
	}
}

// views are the addresses of every view.
func views() []string {
	return []string{
		"/", "/?view=spend", "/?view=waiting", "/?view=nodes", "/?view=decisions", "/?view=policies", "/?view=savings",
		"/?view=namespace&name=shop", "/?view=pod&name=shop/late", "/?view=node&name=n1", "/?view=nodepool&name=general",
		"/?view=decision&name=d2", "/?view=policy&name=system/budget",
	}
}

// TestStructure: every view works with a keyboard, a screen reader and a phone, and loads
// nothing from elsewhere.
func TestStructure(t *testing.T) {
	s := server(t, 3)
	for _, path := range views() {
		t.Run(path, func(t *testing.T) {
			code, _, text := get(t, s, "127.0.0.1:8082", path)
			if code != http.StatusOK {
				t.Fatalf("code %d", code)
			}
			found := tags(t, text)
			ids := uniqueIDs(t, found)
			local(t, found, ids)
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
			for _, input := range slices.Concat(found["input"], found["select"]) {
				if input["type"] != "hidden" && !slices.ContainsFunc(found["label"], func(l map[string]string) bool { return l["for"] == input["id"] }) {
					t.Errorf("field %s has no label", input["name"])
				}
			}
			viewport := slices.ContainsFunc(found["meta"], func(m map[string]string) bool {
				return m["name"] == "viewport" && strings.Contains(m["content"], "width=device-width")
			})
			if !viewport || found["html"][0]["lang"] == "" || len(found["main"]) != 1 || len(found["h1"]) != 1 || len(found["section"]) == 0 {
				t.Errorf("viewport %v, html %v, %d main, %d h1, %d sections", viewport, found["html"], len(found["main"]), len(found["h1"]), len(found["section"]))
			}
			for _, svg := range found["svg"] {
				if svg["aria-hidden"] != "true" && (svg["role"] != "img" || svg["aria-label"] == "") {
					t.Errorf("a picture that says nothing: %v", svg)
				}
			}
		})
	}
}

func uniqueIDs(t *testing.T, found map[string][]map[string]string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	for _, all := range found {
		for _, attr := range all {
			if id := attr["id"]; id != "" && ids[id] {
				t.Errorf("id %s twice", id)
			}
			ids[attr["id"]] = true
		}
	}
	return ids
}

// local checks that links lead to what is on the page or to another view of it.
func local(t *testing.T, found map[string][]map[string]string, ids map[string]bool) {
	t.Helper()
	for _, a := range found["a"] {
		if target, ok := strings.CutPrefix(a["href"], "#"); ok && ids[target] {
			continue
		}
		to, err := url.Parse(a["href"])
		if err != nil || to.Path != "./" {
			t.Errorf("link to %q, which is not on the page", a["href"])
			continue
		}
		if at, known := parse(to.Query()); !known || at.String() != a["href"] {
			t.Errorf("link to %q, which is no view", a["href"])
		}
	}
	for _, name := range []string{"script", "link", "img", "iframe", "form"} {
		for _, attr := range found[name] {
			for _, at := range []string{attr["src"], attr["href"], attr["action"]} {
				if strings.Contains(at, "//") {
					t.Errorf("%s from elsewhere: %s", name, at)
				}
			}
		}
	}
}

// TestParametersAreText: what an address contains stands on the page as text.
func TestParametersAreText(t *testing.T) {
	s := server(t, 2)
	evil := url.QueryEscape(`"><script>alert(1)</script>%s`)
	for _, path := range []string{
		"/?view=decisions&q=" + evil, "/?view=waiting&namespace=" + evil, "/?view=nodes&q=" + evil, "/?view=node&name=" + evil, "/?view=policy&name=" + evil,
		"/?view=decision&name=" + evil, "/?view=pod&name=" + evil, "/?view=namespace&name=" + evil, "/?view=nodepool&name=" + evil, "/?view=spend&q=" + evil,
	} {
		_, _, text := get(t, s, "localhost", path)
		if strings.Contains(text, "<script>alert") || strings.Contains(text, "%!") || strings.Contains(text, "MISSING") {
			t.Errorf("%s: the parameter is not text", path)
		}
		if len(tags(t, text)["script"]) != 2 {
			t.Errorf("%s: scripts %v", path, tags(t, text)["script"])
		}
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
		"theme":    {reason: "before anything is drawn", rounds: 3, host: "localhost", path: "/theme.js", code: 200, want: "localStorage"},
		"no view":  {reason: "a link with a misspelt view says so", rounds: 3, host: "localhost", path: "/?view=nods", code: 404, want: "no such view"},
		"no name":  {reason: "an item has a name", rounds: 3, host: "localhost", path: "/?view=pod", code: 404, want: "no such view"},
		"gone":     {reason: "a link to what has gone says so", rounds: 3, host: "localhost", path: "/?view=node&name=gone", code: 200, want: "There is no such node now."},
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
	curve := b.latest().Curve
	if len(curve) != points {
		t.Errorf("%d points", len(curve))
	}
	if drawn := thinned(curve); len(drawn) > steps+1 || drawn[len(drawn)-1] != curve[len(curve)-1] {
		t.Errorf("%d points are drawn", len(drawn))
	}
}
