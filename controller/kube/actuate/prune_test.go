package actuate

import (
	"strconv"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
)

// TestEventsOfGoneNodesAreForgotten: the Reporter remembers what it has said of a node for as
// long as the node is there, so that memory does not grow with all nodes of an hour.
func TestEventsOfGoneNodesAreForgotten(t *testing.T) {
	r, now := &Reporter{}, time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	pool := eventKey{"NodePool", "general", "DisruptionBlocked"}
	r.shouldSend(pool, "text", now)
	const lives = 1000
	for i := range lives {
		name := "node-" + strconv.Itoa(i)
		s := &model.Snapshot{Time: now.Add(time.Duration(i) * time.Second), Nodes: []model.Node{{Name: name}}}
		r.shouldSend(eventKey{"Node", name, "Unconsolidatable"}, "text", s.Time)
		r.pruneEvents(s)
		if !r.wasSent(eventKey{"Node", name, "Unconsolidatable"}) {
			t.Fatalf("%s is there, and would hear the same again", name)
		}
	}
	if n := len(r.lastEvents); n > 200 {
		t.Errorf("events about %d objects are remembered, of %d nodes of which one is left", n, lives)
	}
	if !r.wasSent(pool) {
		t.Error("the NodePool would hear the same again")
	}
}
