package actuate

import (
	"fmt"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
)

// TestEveryNodeHears: every one of many nodes gets an event that says why it is kept,
// although one decision sends only some and every text differs from the last.
func TestEveryNodeHears(t *testing.T) {
	const nodes = 8 * maxKeptEvents
	s := &model.Snapshot{Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)}
	d := &decide.Decision{Disruptions: make([]decide.Disruption, nodes)}
	for i := range nodes {
		s.Nodes = append(s.Nodes, model.Node{Name: fmt.Sprint("node-", i)})
	}
	a, heard := &Reporter{}, map[int32]bool{}
	for round := range 8 {
		s.Time = s.Time.Add(10 * time.Second)
		for i := range nodes {
			d.Disruptions[i].Node, d.Disruptions[i].Kind = int32(i), disrupt.SavingTooSmall
			d.Disruptions[i].Reason = fmt.Sprintf("0.%04d $/h could be saved", round)
		}
		due := a.keptToReport(s, d)
		if len(due) != maxKeptEvents {
			t.Errorf("round %d tells %d nodes", round, len(due))
		}
		for _, each := range due {
			heard[each.Node] = true
		}
	}
	if len(heard) != nodes {
		t.Errorf("%d of %d nodes were told in as many decisions as it takes", len(heard), nodes)
	}
}
