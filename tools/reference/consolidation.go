package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/random"
	"spokeshave.dev/tools/reference/contrast"
	"spokeshave.dev/tools/reference/handmade"
	"spokeshave.dev/tools/reference/raise"
)

// mostNodes is the size of the largest cluster whose consolidation is compared. The
// reference's search takes minutes for a hundred nodes, since it copies all pods of the
// in-memory client for each set of nodes.
const mostNodes = 24

// running is the seed's cluster with running nodes and without pods that wait; nil when the
// seed has none, or one with more than mostNodes. Nodes cost what their instances cost,
// since the reference knows no other cost.
func running(seed uint64) *contrast.Case {
	if kind := random.Kinds()[seed%uint64(len(random.Kinds()))]; !strings.HasPrefix(kind, "running") {
		return nil
	}
	s := random.NewScenario(seed).Question.Snapshot
	if len(s.Nodes) > mostNodes {
		return nil
	}
	raise.Normalize(s)
	raise.LiftBudgets(s)
	s.Pods = slices.DeleteFunc(s.Pods, func(p model.Pod) bool { return p.Node < 0 })
	for i := range s.Catalogs {
		s.Catalogs[i].NodeCost = 0
	}
	for i := range s.Nodes {
		s.Nodes[i].Extra = 0
	}
	return &contrast.Case{Name: fmt.Sprintf("consolidation of seed %d", seed), Snapshot: s}
}

// runningFrom are the consolidations of the first n seeds from first on that have one.
func runningFrom(first, n int) []*contrast.Case {
	var out []*contrast.Case
	for seed := uint64(first); len(out) < n; seed++ {
		if c := running(seed); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// consolidations compares the consolidations of all clusters.
func consolidations(ctx context.Context, c *config, progress io.Writer) ([]*contrast.Consolidated, error) {
	var cases []*contrast.Case
	if c.handmade {
		written, err := handmade.Consolidations()
		if err != nil {
			return nil, err
		}
		for i := range written {
			cases = append(cases, written[i].Case)
		}
	}
	cases = append(cases, runningFrom(c.first, c.clusters)...)
	var out []*contrast.Consolidated
	said := time.Now()
	for i := range cases {
		r, err := contrast.Consolidate(ctx, cases[i])
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		if time.Since(said) > 10*time.Second {
			said = time.Now()
			fmt.Fprintf(progress, "%d of %d consolidations\n", len(out), len(cases))
		}
	}
	return out, nil
}
