package contrast

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Consolidated is the comparison of what consolidation makes of a cluster, round by round
// until it finds nothing more. Prices are USD per hour.
type Consolidated struct {
	Name   string  `json:"name"`
	Nodes  int     `json:"nodes"`
	Before float64 `json:"before"`
	Ours   End     `json:"ours"`
	Theirs End     `json:"reference"`

	Differences []Difference `json:"differences,omitempty"`
}

// End is what consolidation leaves.
type End struct {
	// Rounds are those that changed something.
	Rounds int `json:"rounds"`
	// Removed are the nodes of the beginning that are gone, and Launched the nodes that
	// came and stayed, as offerings.
	Removed  []string `json:"removed"`
	Launched []string `json:"launched,omitempty"`
	USD      float64  `json:"usd"`
	// Kept says of nodes why they are not removed.
	Kept map[string]string `json:"-"`
}

// The rounds of a cluster: at most mostRounds; idleRounds in which we find nothing end
// ours, since a search of ours does not look at every node of a large cluster.
const (
	mostRounds = 60
	idleRounds = 3
)

// Consolidate consolidates the cluster of the case both ways and compares. No pod may be
// pending in it.
func Consolidate(ctx context.Context, c *Case) (*Consolidated, error) {
	out := &Consolidated{Name: c.Name, Nodes: len(c.Snapshot.Nodes), Before: cost(c.Snapshot).USD()}
	a := &ours{name: c.Name, state: state{kept: map[string]string{}}}
	if err := a.run(ctx, c); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	b, wrong, err := theirs(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%s: reference: %w", c.Name, err)
	}
	out.Differences = a.wrong
	if wrong != "" {
		out.Differences = append(out.Differences, Difference{Invalid, wrong})
	}
	out.Ours, out.Theirs = end(c.Snapshot, a.at, a.rounds), end(c.Snapshot, b.at, b.rounds)
	out.Ours.Kept, out.Theirs.Kept = a.kept, b.kept
	if len(a.wrong) == 0 {
		left, err := a.left(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: reference: %w", c.Name, err)
		}
		out.Differences = append(out.Differences, left...)
	}
	if len(out.Differences) == 0 {
		out.Differences = compareEnds(&out.Ours, &out.Theirs)
	}
	return out, nil
}

func end(before, after *model.Snapshot, rounds int) End {
	out := End{Rounds: rounds, Removed: []string{}, USD: cost(after).USD()}
	has := func(s *model.Snapshot, name string) bool {
		return slices.ContainsFunc(s.Nodes, func(n model.Node) bool { return n.Name == name })
	}
	for i := range before.Nodes {
		if n := &before.Nodes[i]; !has(after, n.Name) {
			out.Removed = append(out.Removed, n.Name)
		}
	}
	for i := range after.Nodes {
		if n := &after.Nodes[i]; !has(before, n.Name) {
			out.Launched = append(out.Launched, offering(n.InstanceType, n.Zone, n.CapacityType))
		}
	}
	return out
}

// compareEnds names the difference of two ends, in the first of which the reference finds
// nothing more.
func compareEnds(a, b *End) []Difference {
	const cent = 1e-6 // USD per hour, below which two costs are the same
	switch {
	case a.USD < b.USD-cent:
		return []Difference{{SavesMore, fmt.Sprintf("%.4f left against %.4f USD/hour", a.USD, b.USD)}}
	case a.USD > b.USD+cent:
		return []Difference{{OtherPath, fmt.Sprintf("%.4f left against %.4f USD/hour, %v against %v", a.USD, b.USD, a.Removed, b.Removed)}}
	case !slices.Equal(a.Removed, b.Removed):
		return []Difference{{OtherNodes, fmt.Sprintf("%v against %v", a.Removed, b.Removed)}}
	}
	return nil
}

func offering(instanceType, zone string, capacity model.CapacityType) string {
	return strings.Join([]string{instanceType, zone, string(capacity)}, " ")
}
