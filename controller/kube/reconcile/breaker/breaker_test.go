package breaker

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestLimit(t *testing.T) {
	for nodes, want := range map[int]int{0: 2, 1: 2, 10: 2, 20: 2, 21: 3, 100: 10, 1000: 100} {
		if got := (&Breaker{Percent: 10}).Limit(nodes); got != want {
			t.Errorf("of %d nodes %d may go, want %d", nodes, got, want)
		}
	}
	if got := (&Breaker{Percent: 100}).Limit(50); got != 50 {
		t.Errorf("at 100 %% %d of 50 may go", got)
	}
}

// TestInputs: what changed last explains drift for a while; a new version of the
// controller, and what it finds anew in AWS, does not.
func TestInputs(t *testing.T) {
	before := Inputs{Version: "1", Spec: "a", Resolved: "x", Changed: start.Add(-time.Hour)}
	for name, tc := range map[string]struct {
		reason   string
		last     Inputs
		seen     Inputs
		explains bool
	}{
		"first":            {reason: "nothing was known: the nodes may be another version's", seen: Inputs{Version: "1", Spec: "a", Resolved: "x"}},
		"nothing":          {reason: "nothing has changed", last: before, seen: Inputs{Version: "1", Spec: "a", Resolved: "x"}},
		"spec":             {reason: "a user has changed something", last: before, seen: Inputs{Version: "1", Spec: "b", Resolved: "x"}, explains: true},
		"resolved":         {reason: "AWS has a new image", last: before, seen: Inputs{Version: "1", Spec: "a", Resolved: "y"}, explains: true},
		"version":          {reason: "the controller was upgraded", last: before, seen: Inputs{Version: "2", Spec: "a", Resolved: "x"}},
		"both":             {reason: "the new version finds other images", last: before, seen: Inputs{Version: "2", Spec: "a", Resolved: "y"}},
		"spec and version": {reason: "a user has changed something while it was upgraded", last: before, seen: Inputs{Version: "2", Spec: "b", Resolved: "x"}, explains: true},
		"changed since the first": {
			reason: "a user has changed something", seen: Inputs{Version: "1", Spec: "b", Resolved: "x"}, explains: true,
			last: Inputs{}.next(Inputs{Version: "1", Spec: "a", Resolved: "x"}, start.Add(-time.Minute)),
		},
		"resolved since the first": {
			reason: "the first version on record has just started", seen: Inputs{Version: "1", Spec: "a", Resolved: "y"},
			last: Inputs{}.next(Inputs{Version: "1", Spec: "a", Resolved: "x"}, start.Add(-time.Minute)),
		},
		"soon after": {
			reason: "the new version has just started", seen: Inputs{Version: "1", Spec: "a", Resolved: "y"},
			last: Inputs{Version: "1", Spec: "a", Resolved: "x", Changed: start.Add(-time.Hour), Upgraded: start.Add(-time.Minute)},
		},
		"long after": {
			reason: "the new version runs for an hour", seen: Inputs{Version: "1", Spec: "a", Resolved: "y"}, explains: true,
			last: Inputs{Version: "1", Spec: "a", Resolved: "x", Changed: start.Add(-time.Hour), Upgraded: start.Add(-time.Hour)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			next := tc.last.next(tc.seen, start)
			if got := start.Sub(next.Changed) < settle; got != tc.explains {
				t.Errorf("%s: explained is %v: %+v", tc.reason, got, next)
			}
			if again := next.next(tc.seen, start.Add(time.Second)); again != next {
				t.Errorf("the same inputs change what is known: %+v, then %+v", next, again)
			}
		})
	}
}

func TestBurst(t *testing.T) {
	var u Burst
	if n, wait := u.Add("a", "1", start); n != 1 || wait != gatherFor {
		t.Errorf("the first: %d, wait %s", n, wait)
	}
	u.Add("b", "9", start)
	if n, wait := u.Add("a", "2", start.Add(30*time.Second)); n != 2 || wait != gatherFor {
		t.Errorf("the second: %d, wait %s", n, wait)
	}
	if n, wait := u.Add("a", "1", start.Add(time.Minute)); n != 2 || wait != 0 {
		t.Errorf("the first, a minute later: %d, wait %s", n, wait)
	}
	if u.Remove("a", "1") || !u.Remove("a", "2") || u.Remove("a", "2") {
		t.Error("only the removal of the last one says that it was")
	}
	for i := range 100 {
		u.Add("c", types.UID(rune('a'+i)), start.Add(time.Duration(i)*2*time.Minute))
	}
	if n := len(u.groups["c"]); n > 32 || len(u.groups) != 1 {
		t.Errorf("%d of an hour count in %d groups, want 31 in one", n, len(u.groups))
	}
}

// TestAnnotation: what allows a kind, and that an annotation which allows nothing says so,
// once an hour.
func TestAnnotation(t *testing.T) {
	at := func(after time.Duration) string { return start.Add(after).Format(time.RFC3339) }
	for name, tc := range map[string]struct {
		reason  string
		value   string
		allowed bool
		says    string
	}{
		"an hour":  {reason: "as the event's command writes it", value: at(time.Hour), allowed: true, says: "goes on"},
		"over":     {reason: "it was allowed once; that is no mistake", value: at(-time.Hour)},
		"too long": {reason: "an allowance ends within a day", value: at(48 * time.Hour), says: "allows nothing"},
		"no time":  {reason: "true is no time", value: "true", says: "allows nothing"},
	} {
		said := events.NewFakeRecorder(4)
		b := &Breaker{Events: said, Clock: clocktesting.NewFakePassiveClock(start), Namespace: "spokeshave"}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{Annotation(Drift): tc.value}}}
		b.allow(t.Context(), cm)
		b.allow(t.Context(), cm)
		close(said.Events)
		var all []string
		for text := range said.Events {
			all = append(all, text)
		}
		want := 0
		if tc.says != "" {
			want = 1
		}
		if b.Allowed(Drift) != tc.allowed || len(all) != want || want == 1 && !strings.Contains(all[0], tc.says) {
			t.Errorf("%s: allowed is %v, said %q; want %v and %q: %s", name, b.Allowed(Drift), all, tc.allowed, tc.says, tc.reason)
		}
	}
}
