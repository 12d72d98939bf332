package journal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// capped returns a snapshot of so many pods, and a decision by which all of them wait for
// a cap.
func capped(id string, pods int) (*model.Snapshot, *decide.Decision) {
	s, d := snapshot(), &decide.Decision{ID: id, Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)}
	s.Pods = nil
	why := strings.Repeat("of this the cap leaves nothing; ", 10)
	for i := range pods {
		s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: fmt.Sprintf("web-%s-%05d", id, i), Node: -1})
		d.Plan.Unplaced = append(d.Plan.Unplaced, model.Unplaced{Pod: int32(i), Reasons: []model.Reason{{Code: model.CeilingReached, Pool: "general", Policy: "budget", Message: why}}})
	}
	return s, d
}

// room is what the journals of the tests may hold, in bytes: the default of the controller.
const room = 32 << 20

// TestBytesAreBounded: large decisions push older ones out, so that the journal never
// takes much more than its budget. The latest decision is kept whatever it takes.
func TestBytesAreBounded(t *testing.T) {
	j := New(200, room)
	for i := range 12 {
		s, d := capped(string(rune('a'+i)), 10_000)
		j.Add(t.Context(), s, d)
		j.digests.busy.Wait()
		text, err := json.Marshal(j.Entries())
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 3*room/2 {
			t.Fatalf("after %d decisions the journal has %d MB, its budget is %d MB", i+1, len(text)>>20, room>>20)
		}
	}
	if n := len(j.Entries()); n < 2 || n == 12 {
		t.Errorf("%d decisions are kept", n)
	}
	huge, d := capped("z", 200_000)
	j.Add(t.Context(), huge, d)
	if got := j.Entries(); len(got) != 1 || got[0].ID != "z" {
		t.Errorf("%d decisions, the first %s: want the latest alone", len(got), got[0].ID)
	}
	j.digests.busy.Wait()
}

// TestSizeIsNearTheTruth: the estimate by which the journal is bounded is between half and
// twice of what is served.
func TestSizeIsNearTheTruth(t *testing.T) {
	many, waits := capped("many", 1_000)
	option := []model.Option{{InstanceType: "m5.large", Zone: "eu-central-1a", CapacityType: model.Spot}, {InstanceType: "m5.xlarge", Zone: "eu-central-1a", CapacityType: model.Spot}}
	pods := make([]int32, 100)
	launch := &decide.Decision{ID: "launch", Plan: model.Plan{Nodes: []model.PlannedNode{{Pods: pods, Options: option}, {Pods: pods, Options: option}}}}
	keep := &decide.Decision{ID: "keep"}
	for range 500 {
		keep.Disruptions = append(keep.Disruptions, decide.Disruption{Node: 0, Reason: "the node is younger than an hour"})
	}
	commands := &decide.Decision{ID: "commands"}
	for range 50 {
		commands.Commands = append(commands.Commands, decide.Command{Stage: decide.Start, Nodes: []int32{0, 1}, Replacements: []model.PlannedNode{{Pods: pods, Options: option}}})
	}
	ranked := decided("ranked")
	for name, in := range map[string]Decided{
		"pods that wait": {Snapshot: many, Decision: waits},
		"launches":       {Snapshot: snapshot(), Decision: launch},
		"nodes kept":     {Snapshot: snapshot(), Decision: keep},
		"commands":       {Snapshot: snapshot(), Decision: commands},
		"ranked":         ranked,
	} {
		e := entry(in.Snapshot, in.Decision)
		e.Candidates = offerings(in.Snapshot, in.Decision)
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.size(); got < len(text)/2 || got > 2*len(text) {
			t.Errorf("%s: %d bytes are taken for %d", name, len(text), got)
		}
	}
}

// reader is the client of a request: everything that it is given it takes as an occasion
// to record another decision.
type reader struct {
	http.ResponseWriter
	between func()
	pieces  []int
}

func (r *reader) Write(p []byte) (int, error) {
	r.pieces = append(r.pieces, len(p))
	r.between()
	return r.ResponseWriter.Write(p)
}

// TestReadersHoldNothing: decisions are recorded while somebody reads, however slowly, and
// a reader costs the memory of one decision and not of all.
func TestReadersHoldNothing(t *testing.T) {
	j := New(50, room)
	largest := 0
	for i := range 20 {
		s, d := capped(string(rune('a'+i)), 200)
		j.Add(t.Context(), s, d)
		j.digests.busy.Wait()
		text, err := json.Marshal(j.Entries()[i])
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, len(text))
	}
	out, more := httptest.NewRecorder(), 0
	slow := &reader{ResponseWriter: out, between: func() {
		s, d := capped(fmt.Sprintf("more-%d", more), 1)
		j.Add(t.Context(), s, d) // for ever, if the reader held the journal
		more++
	}}
	j.ServeHTTP(slow, httptest.NewRequest(http.MethodGet, "/decisions", http.NoBody))
	var got []Entry
	if err := json.Unmarshal(out.Body.Bytes(), &got); err != nil || len(got) != 20 {
		t.Fatalf("%d decisions: %v", len(got), err)
	}
	for _, n := range slow.pieces {
		if n > largest+2 {
			t.Errorf("a piece of %d bytes, the largest decision has %d", n, largest)
		}
	}
	j.digests.busy.Wait()
}

// TestEntriesStay: what a reader was given does not change any more when later decisions
// outdate it.
func TestEntriesStay(t *testing.T) {
	j := New(10, room)
	at := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	j.Add(t.Context(), snapshot(), &decide.Decision{ID: "a", Time: at, Disruptions: []decide.Disruption{{Node: 0, Reason: "young"}, {Node: 1, Go: true}}})
	j.digests.busy.Wait()
	given := j.Entries()
	before, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	j.Add(t.Context(), snapshot(), &decide.Decision{ID: "b", Time: at.Add(time.Minute), Disruptions: []decide.Disruption{{Node: 0, Reason: "protected"}}})
	j.digests.busy.Wait()
	after, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
}

// TestEmpty: no decision yet is an empty list, as it always was.
func TestEmpty(t *testing.T) {
	w := httptest.NewRecorder()
	New(10, room).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/decisions", http.NoBody))
	var got []Entry
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got) != 0 || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%q: %v", w.Body, err)
	}
}
