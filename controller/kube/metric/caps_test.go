package metric

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/policy"
)

// TestCapMetrics: every cap has a limit, headroom and burn rate, and a monthly cap also
// the time until it is used up. A cap that no policy returns any more has no metrics.
func TestCapMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	c := newCapMetrics(reg)
	known := map[string]map[string]policy.Cap{}
	c.observe(&decide.Decision{Caps: known, Headroom: []decide.CapStatus{
		{Scope: "cluster", Policy: "budget", Period: decide.PerHour, Limit: 2, Left: 500_000, Burn: 1_500_000, SecondsToCap: -1},
		{Scope: "cluster", Policy: "budget", Period: decide.PerMonth, Limit: 900, Left: 250_000, Burn: 1_500_000, SecondsToCap: 7200, Soft: true},
		{Scope: "nodepool/gpu", Policy: "budget", Period: decide.PerMonth, Limit: 100, Left: 134_000, SecondsToCap: -1},
	}})
	want := `
# HELP spokeshave_cap_usd A cap in force, hard or soft: USD per hour, or per month.
# TYPE spokeshave_cap_usd gauge
spokeshave_cap_usd{kind="hard",period="hour",policy="budget",scope="cluster"} 2
spokeshave_cap_usd{kind="soft",period="month",policy="budget",scope="cluster"} 900
spokeshave_cap_usd{kind="hard",period="month",policy="budget",scope="nodepool/gpu"} 100
# HELP spokeshave_headroom_usd Headroom under a cap, in USD per hour: what may be added so that it holds.
# TYPE spokeshave_headroom_usd gauge
spokeshave_headroom_usd{kind="hard",period="hour",policy="budget",scope="cluster"} 0.5
spokeshave_headroom_usd{kind="soft",period="month",policy="budget",scope="cluster"} 0.25
spokeshave_headroom_usd{kind="hard",period="month",policy="budget",scope="nodepool/gpu"} 0.134
# HELP spokeshave_cap_burn_usd What runs and is in flight in the scope of a cap, in USD per hour.
# TYPE spokeshave_cap_burn_usd gauge
spokeshave_cap_burn_usd{kind="hard",period="hour",policy="budget",scope="cluster"} 1.5
spokeshave_cap_burn_usd{kind="soft",period="month",policy="budget",scope="cluster"} 1.5
spokeshave_cap_burn_usd{kind="hard",period="month",policy="budget",scope="nodepool/gpu"} 0
# HELP spokeshave_time_to_cap_seconds When a month's cap is used up at the present rate; absent when nothing is spent.
# TYPE spokeshave_time_to_cap_seconds gauge
spokeshave_time_to_cap_seconds{kind="soft",period="month",policy="budget",scope="cluster"} 7200
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	c.observe(&decide.Decision{}) // no policy was called: the metrics stay
	if n, err := testutil.GatherAndCount(reg); err != nil || n != 10 {
		t.Errorf("%d series after a decision that asked nobody, want 10 (%v)", n, err)
	}
	c.observe(&decide.Decision{Caps: known})
	if n, err := testutil.GatherAndCount(reg); err != nil || n != 0 {
		t.Errorf("%d series after the caps were lifted (%v)", n, err)
	}
}
