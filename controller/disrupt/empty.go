// Package disrupt finds nodes that could go. It decides nothing about whether
// they may: consolidate policies and budgets have the word (controller/decide).
//
// This version knows emptiness; consolidation of underutilized nodes, drift
// and expiry are to come.
package disrupt

import (
	"time"

	"spokeshave.dev/controller/model"
)

// Block says why an empty node stays.
type Block string

// The blocks.
const (
	// Annotated: the node carries karpenter.sh/do-not-disrupt.
	Annotated Block = "do-not-disrupt"
	// Off: the pool's consolidateAfter is Never.
	Off Block = "consolidateAfter is Never"
)

// Candidate is an empty node.
type Candidate struct {
	// Node indexes Snapshot.Nodes.
	Node int32
	// Block, when set, keeps the node whatever the policies say.
	Block Block
	// Due is when consolidateAfter has passed since the last pod event.
	Due time.Time
}

// Empty lists the initialized nodes of a pool that run nothing but DaemonSet
// pods and expect nothing else, in the snapshot's order.
func Empty(s *model.Snapshot) []Candidate {
	busy := make([]bool, len(s.Nodes))
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 && !p.Daemon {
			busy[p.Node] = true
		}
	}
	var out []Candidate
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if busy[i] || n.Nominated || n.State != model.Initialized || n.Pool < 0 {
			continue
		}
		out = append(out, candidate(s, int32(i)))
	}
	return out
}

func candidate(s *model.Snapshot, i int32) Candidate {
	n := &s.Nodes[i]
	d := &s.Pools[n.Pool].Disruption
	c := Candidate{Node: i}
	since := n.LastPodEvent
	if since.IsZero() {
		since = n.LaunchedAt
	}
	c.Due = since.Add(d.ConsolidateAfter)
	switch {
	case n.DoNotDisrupt:
		c.Block = Annotated
	case d.Never:
		c.Block = Off
	}
	return c
}
