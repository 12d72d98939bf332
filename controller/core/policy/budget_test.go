package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// slow is a policy whose every rank answer takes so long, and doubles the cost.
func slow(clock *time.Duration, namespace, name string, scope *Scope, takes time.Duration) *scripted {
	p := ranker(name, func(cost float64) RankAnswer { return RankAnswer{Score: 2 * cost} })
	answer := p.rank
	p.rank = func(in *RankInput) ([]RankAnswer, error) {
		*clock += takes
		return answer(in)
	}
	p.info.Namespace, p.info.Match = namespace, Match{Scope: scope, Namespace: namespace}
	return p
}

// TestTimePerDecision: a policy that is slow without ever passing its deadline costs a
// decision a second and one question more, and so do all those of a plugin namespace together.
func TestTimePerDecision(t *testing.T) {
	everything := &Scope{NodePools: []string{"*"}}
	for name, tc := range map[string]struct {
		reason string
		of     []string // namespace/name
		scope  *Scope
		takes  time.Duration
		again  bool   // the first five questions
		want   string // how many of ten questions each answers
		total  time.Duration
	}{
		"fast":             {reason: "ten answers are within a second", of: []string{"spokeshave/a"}, takes: 90 * time.Millisecond, want: "10", total: 900 * time.Millisecond},
		"slow":             {reason: "the third answer is begun after 0.8 s", of: []string{"spokeshave/a"}, takes: 400 * time.Millisecond, want: "3", total: 1200 * time.Millisecond},
		"two":              {reason: "the administrator's policies have a second each", of: []string{"spokeshave/a", "spokeshave/b"}, takes: 400 * time.Millisecond, want: "3 3", total: 2400 * time.Millisecond},
		"plugins":          {reason: "those of a namespace share a second", of: []string{"team/a", "team/b"}, scope: everything, takes: 400 * time.Millisecond, want: "2 1", total: 1200 * time.Millisecond},
		"of two teams":     {reason: "each namespace has its own", of: []string{"blue/a", "red/a"}, scope: everything, takes: 400 * time.Millisecond, want: "3 3", total: 2400 * time.Millisecond},
		"dispensable":      {reason: "what it can do without takes nothing from the rest", of: []string{"spokeshave/a"}, takes: 400 * time.Millisecond, again: true, want: "6", total: 2400 * time.Millisecond},
		"exactly a second": {reason: "what is used up is used up", of: []string{"spokeshave/a"}, takes: 500 * time.Millisecond, want: "2", total: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			clock := time.Duration(0)
			var policies []Policy
			for _, who := range tc.of {
				namespace, name, _ := strings.Cut(who, "/")
				policies = append(policies, slow(&clock, namespace, name, tc.scope, tc.takes))
			}
			costs := func(p *Panel) (out []float64) {
				for n := range 10 {
					in, pool := &RankInput{Rows: []RankRow{{Billed: 1}}}, &model.Pool{Name: "general"}
					ask := p.Rank
					if tc.again && n < 5 {
						ask = p.RankAgain
					}
					got := ask(t.Context(), pool, in)
					out = append(out, got.Tiers[0][0].Cost)
				}
				return out
			}
			panel := NewPanel(policies, func() time.Duration { return clock })
			decided := costs(panel)
			var answered []string
			for _, u := range panel.Uses() {
				answered = append(answered, fmt.Sprint(u.Calls-u.Faults))
				if u.Kinds[FaultDeadline] != u.Faults || len(u.Unrepeatable) != u.Faults {
					t.Errorf("%s: %d faults, of which %v are deadlines and %d are on record", u.Name, u.Faults, u.Kinds, len(u.Unrepeatable))
				}
			}
			if got := strings.Join(answered, " "); got != tc.want || clock != tc.total {
				t.Errorf("%s: answered %s in %s, want %s in %s", tc.reason, got, clock, tc.want, tc.total)
			}
			for i := range policies {
				policies[i] = Repeat(policies[i], panel.Uses())
			}
			if diff := cmp.Diff(decided, costs(NewPanel(policies, nil))); diff != "" {
				t.Errorf("a replay, which measures no time, has other costs, -decided +replayed\n%s", diff)
			}
		})
	}
}
