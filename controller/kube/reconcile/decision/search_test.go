package decision

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// TestSearchSchedule: a search is made at once when a cap begins to keep pods waiting,
// and again when a removable node has been idle for long enough, but never so often
// that searches exceed their share of the time.
func TestSearchSchedule(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	short := func(after time.Duration, scope string, retry ...time.Duration) *decide.Decision {
		d := &decide.Decision{Time: start.Add(after)}
		if scope != "" {
			d.Headroom = []decide.CapStatus{{Scope: scope, Short: true}, {Scope: "nodepool/calm"}}
		}
		for _, r := range retry {
			d.Disruptions = append(d.Disruptions, decide.Disruption{Method: decide.MethodUnderutilized, RetryAt: start.Add(r)})
		}
		return d
	}
	cases := map[string]struct {
		reason string
		// decisions are made in turn, the first of them with a search.
		decisions []*decide.Decision
		took      time.Duration
		// want is when the next one searches, wait when it is made.
		want, wait time.Duration
	}{
		"calm": {reason: "nothing presses", decisions: []*decide.Decision{short(0, "")}, want: searchEvery, wait: time.Minute},
		"at once": {
			reason: "a cap stops pods: the next decision searches", decisions: []*decide.Decision{short(0, ""), short(time.Second, "cluster")},
			want: time.Second, wait: 0,
		},
		"another scope": {
			reason: "so does a second cap", decisions: []*decide.Decision{short(0, "cluster"), short(time.Second, "nodepool/gpu")},
			want: time.Second, wait: 0,
		},
		"the same": {
			reason: "what was searched for is searched for in its time", decisions: []*decide.Decision{short(0, "cluster"), short(time.Second, "cluster")},
			want: searchEvery, wait: time.Minute,
		},
		"searched": {reason: "the decision that found it has searched", decisions: []*decide.Decision{short(0, "cluster")}, want: searchEvery, wait: time.Minute},
		"idle soon": {
			reason: "consolidateAfter passes: not a moment later", decisions: []*decide.Decision{short(0, "cluster", 7*time.Second, 4*time.Second)},
			want: 4 * time.Second, wait: 4 * time.Second,
		},
		"over": {
			reason: "pods have what they need", decisions: []*decide.Decision{short(0, "cluster", 4*time.Second), short(time.Second, "")},
			want: searchEvery, wait: time.Minute,
		},
		"dear": {
			reason: "searches keep to their share of the time", decisions: []*decide.Decision{short(0, ""), short(time.Second, "cluster")},
			took: 300 * time.Millisecond, want: 6 * time.Second, wait: 5 * time.Second,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := &Loop{Config: Config{Every: time.Minute}}
			for i, d := range tc.decisions {
				searched := l.search.due(d.Time, searchEvery)
				if searched != (i == 0) {
					t.Fatalf("%s: decision %d searches: %v", tc.reason, i, searched)
				}
				l.search.took = tc.took
				l.search.expedite(d, searched)
			}
			last := tc.decisions[len(tc.decisions)-1]
			last.Disruptions = nil // these have their own say in when to look
			if got := l.next(last); got != tc.wait {
				t.Errorf("%s: looks again after %s, want %s", tc.reason, got, tc.wait)
			}
			if before := start.Add(tc.want - time.Millisecond); before.After(last.Time) && l.search.due(before, searchEvery) {
				t.Errorf("%s: searches before %s", tc.reason, tc.want)
			}
			if !l.search.due(start.Add(tc.want), searchEvery) {
				t.Errorf("%s: does not search at %s", tc.reason, tc.want)
			}
		})
	}
}

// TestPostponed: a search that had to wait for launches is made by the next decision,
// not after the next interval.
func TestPostponed(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	l := &Loop{}
	for _, tc := range []struct {
		reason          string
		after           time.Duration
		postponed       bool
		due, want, next bool
	}{
		{reason: "the first decision searches", due: true, want: true},
		{reason: "an interval has not passed", after: 5 * time.Second},
		{reason: "something is launched first", after: 10 * time.Second, postponed: true, due: true, next: true},
		{reason: "it is made up for", after: 11 * time.Second, due: true, want: true},
		{reason: "and an interval begins", after: 20 * time.Second},
	} {
		now, before := start.Add(tc.after), l.search.last
		due := l.search.due(now, searchEvery)
		d := &decide.Decision{Time: now, Postponed: tc.postponed, Timing: decide.Timing{Total: time.Millisecond}}
		if got := l.search.record(d, due, before); due != tc.due || got != tc.want {
			t.Errorf("%s: due %v, made %v, want %v and %v", tc.reason, due, got, tc.due, tc.want)
		}
		kept := l.search.last
		if next := l.search.due(now.Add(time.Millisecond), searchEvery); next != tc.next {
			t.Errorf("%s: due again at once: %v", tc.reason, next)
		}
		l.search.last = kept
	}
}

// TestSearchesDuringRollouts: nodes are not consolidated between two parts of a rollout, which
// has pods made again that have only just come. Without end it does not keep searches away,
// and a cap that keeps pods waiting is looked after as ever.
func TestSearchesDuringRollouts(t *testing.T) {
	last := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason    string
		beginning int
		pod       model.Pod
		after     time.Duration
		early     bool
		want      bool
	}{
		"none":      {reason: "nothing begins", after: searchEvery, want: true},
		"goes on":   {reason: "pods are yet to come", beginning: 20, after: rolloutSearchEvery - time.Second},
		"announced": {reason: "all have begun, and pods are yet to come", pod: model.Pod{Announced: "ReplicaSet/shop/web"}, after: rolloutSearchEvery - time.Second},
		"Jobs":      {reason: "there are always Jobs", pod: model.Pod{Announced: "Job/shop/sum", Job: true}, after: searchEvery, want: true},
		"endless":   {reason: "one rollout follows the other", beginning: 20, after: rolloutSearchEvery, want: true},
		"short":     {reason: "a search may free money that pods wait for", beginning: 20, after: time.Second, early: true, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := searchSchedule{last: last}
			now := last.Add(tc.after)
			if tc.early {
				s.early = now
			}
			if got := s.due(now, searchInterval(tc.beginning, &model.Snapshot{Pods: []model.Pod{{}, tc.pod}})); got != tc.want {
				t.Errorf("%s: a search is due: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
