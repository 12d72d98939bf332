package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// TestFiguresOfDeletedPools: the monthly cost of a deleted NodePool stays until the
// month ends; its hourly cost ends with its last node.
func TestFiguresOfDeletedPools(t *testing.T) {
	start := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	s := &model.Snapshot{Time: start, Pools: []model.Pool{{Name: "gone", Labels: map[string]string{"team": "web"}}}}
	s.Nodes = []model.Node{{Name: "a", Claim: "a", InstanceType: "m5.large", CapacityType: model.Spot, Price: 1_000_000, LaunchedAt: start}}
	l := spend.New(s)
	drains := *s
	drains.Time, drains.Pools = start.Add(time.Hour), nil
	drains.Nodes = []model.Node{s.Nodes[0]}
	drains.Nodes[0].Pool, drains.Nodes[0].PoolLabels = -1, s.Pools[0].Labels
	drains.Nodes[0].PoolName = "gone"
	l = l.Advance(&drains)
	k := &Tracker{}
	c := NewCollector(k)
	for _, at := range []struct {
		reason string
		nodes  []model.Node
		after  time.Duration
		want   string
	}{
		{"its node drains, and costs", drains.Nodes, 2 * time.Hour, `
			# HELP spokeshave_spend_days_waiting Days of spend that have ended and are not in the history yet: above 0 for more than minutes while it cannot be written.
			# TYPE spokeshave_spend_days_waiting gauge
			spokeshave_spend_days_waiting 0
			# HELP spokeshave_spend_month_to_date_usd What a scope has cost since the month began (UTC), in USD.
			# TYPE spokeshave_spend_month_to_date_usd gauge
			spokeshave_spend_month_to_date_usd{scope="cluster"} 2
			spokeshave_spend_month_to_date_usd{scope="label/team=web"} 2
			spokeshave_spend_month_to_date_usd{scope="nodepool/gone"} 2
			# HELP spokeshave_spend_rate_usd What runs, in USD per hour, by what was rented.
			# TYPE spokeshave_spend_rate_usd gauge
			spokeshave_spend_rate_usd{capacity_type="spot",family="m5",nodepool="gone"} 1
		`},
		{"it is gone: the rate has no series, the month its sum", nil, 3 * time.Hour, `
			# HELP spokeshave_spend_days_waiting Days of spend that have ended and are not in the history yet: above 0 for more than minutes while it cannot be written.
			# TYPE spokeshave_spend_days_waiting gauge
			spokeshave_spend_days_waiting 0
			# HELP spokeshave_spend_month_to_date_usd What a scope has cost since the month began (UTC), in USD.
			# TYPE spokeshave_spend_month_to_date_usd gauge
			spokeshave_spend_month_to_date_usd{scope="cluster"} 3
			spokeshave_spend_month_to_date_usd{scope="label/team=web"} 3
			spokeshave_spend_month_to_date_usd{scope="nodepool/gone"} 3
		`},
		{"a new month knows nothing of it, but its day waits for the history", nil, 23 * 24 * time.Hour, `
			# HELP spokeshave_spend_days_waiting Days of spend that have ended and are not in the history yet: above 0 for more than minutes while it cannot be written.
			# TYPE spokeshave_spend_days_waiting gauge
			spokeshave_spend_days_waiting 1
			# HELP spokeshave_spend_month_to_date_usd What a scope has cost since the month began (UTC), in USD.
			# TYPE spokeshave_spend_month_to_date_usd gauge
			spokeshave_spend_month_to_date_usd{scope="cluster"} 0
		`},
	} {
		next := drains
		next.Time, next.Nodes = start.Add(at.after), at.nodes
		l = l.Advance(&next)
		kept := l
		k.ledger.Store(&kept)
		if err := testutil.CollectAndCompare(c, strings.NewReader(at.want), "spokeshave_spend_month_to_date_usd", "spokeshave_spend_rate_usd", "spokeshave_spend_days_waiting"); err != nil {
			t.Errorf("%s: %v", at.reason, err)
		}
	}
}
