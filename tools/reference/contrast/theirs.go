package contrast

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
	"spokeshave.dev/tools/reference/raise"
)

// theirs is the reference's consolidation of a cluster. wrong is the rule that a round of
// it would break; it ends before that.
func theirs(ctx context.Context, c *Case) (out state, wrong string, err error) {
	out.at, out.kept = c.Snapshot, map[string]string{}
	for world := c.World; out.rounds < mostRounds; world = nil {
		if world == nil {
			world = raise.World(out.at)
		}
		r, err := oracle.Consolidate(ctx, world)
		if err != nil {
			return out, "", fmt.Errorf("round %d: %w", out.rounds+1, err)
		}
		maps.Copy(out.kept, r.Kept)
		if len(r.Removed) == 0 {
			break
		}
		ch, wrong, err := proved(out.at, r)
		if err != nil || wrong != "" {
			return out, wrong, err
		}
		out.rounds++
		out.at = ch.apply(out.at, out.rounds)
	}
	return out, "", nil
}

// proved is the round as a change, and the first rule that it breaks.
func proved(s *model.Snapshot, r *oracle.Round) (*change, string, error) {
	out := &change{}
	leaving := *s
	leaving.Nodes = slices.Clone(s.Nodes)
	for i := range s.Nodes {
		if slices.Contains(r.Removed, s.Nodes[i].Name) {
			out.gone = append(out.gone, int32(i))
			leaving.Nodes[i].State = model.Deleting
		}
	}
	leaving.Pools = slices.Clone(s.Pools)
	for i := range leaving.Pools {
		leaving.Pools[i].Usage = raise.Usage(&leaving, int32(i))
	}
	pods := asked(&leaving)
	p, err := plan(s, pods, &oracle.Answer{Nodes: r.Launched, Existing: r.Existing})
	if err != nil {
		return nil, "", err
	}
	out.launched, out.existing = p.Nodes, p.Existing
	if bad := broken(&leaving, pods, p); len(bad) > 0 {
		return out, bad[0].String(), nil
	}
	return out, "", nil
}
