package journal

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// otherTypes returns for planned nodes, by the names of their claims, what the next
// best instance types would have cost that are not among the nodes' first options. The
// solver lists options that cost little more than the best, often one type in several
// zones: that explains the zone, but not the type. Nodes beyond the first kindsKept
// have none.
func otherTypes(s *model.Snapshot, d *decide.Decision) map[string][]model.Option {
	out := map[string][]model.Option{}
	offers := map[int32][]model.Option{} // by pool
	at := 0
	add := func(nodes []model.PlannedNode) {
		for i := range nodes {
			n := &nodes[i]
			name := model.ClaimName(s.Pools[n.Pool].Name, d.ID, at)
			if at++; at > kindsKept {
				return
			}
			if _, known := offers[n.Pool]; !known {
				offers[n.Pool] = offered(s, d, n.Pool)
			}
			if next := nextTypes(s, n, offers[n.Pool]); len(next) > 0 {
				out[name] = next
			}
		}
	}
	add(d.Plan.Nodes)
	for i := range d.Commands {
		if d.Commands[i].Stage == decide.Start {
			add(d.Commands[i].Replacements)
		}
	}
	return out
}

// offered returns the offerings from which a NodePool could choose, best first: those
// that rank policies left, or all in its catalogue when none was called.
func offered(s *model.Snapshot, d *decide.Decision, pool int32) []model.Option {
	var out []model.Option
	at := slices.IndexFunc(d.Ranked, func(r decide.Ranked) bool { return r.Pool == pool })
	sells := s.Pools[pool].Catalog
	switch {
	case at >= 0:
		r := &d.Ranked[at]
		for i := range r.Rows {
			if _, excluded := r.Outcome.Excluded[i]; !excluded && r.Outcome.Refused == nil {
				out = append(out, scored(r, i))
			}
		}
	case sells >= 0 && int(sells) < len(s.Catalogs):
		for _, t := range s.Catalogs[sells].Types {
			for _, o := range t.Offerings {
				out = append(out, model.Option{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price, Effective: o.Price.USD()})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b model.Option) int {
		return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.Price, b.Price), cmp.Compare(a.InstanceType, b.InstanceType), cmp.Compare(a.Zone, b.Zone))
	})
	return out
}

// scored is an offering with its cost after the rank policies.
func scored(r *decide.Ranked, row int) model.Option {
	of := &r.Rows[row]
	o := model.Option{InstanceType: of.InstanceType, Zone: of.Zone, CapacityType: of.CapacityType, Price: model.PriceOf(of.Billed), Effective: of.Billed}
	if len(r.Outcome.Tiers[row]) > 0 {
		o.Effective = r.Outcome.Tiers[row][0].Cost
	}
	return o
}

// nextTypes returns the best offering of each of the next best types that would hold
// the node's pods. Zone and capacity type are those of one of the node's options,
// because the topology of its pods is known to allow them.
func nextTypes(s *model.Snapshot, n *model.PlannedNode, offers []model.Option) []model.Option {
	type place struct {
		zone string
		as   model.CapacityType
	}
	places, seen := map[place]bool{}, map[string]bool{}
	for i := range n.Options {
		o := &n.Options[i]
		places[place{o.Zone, o.CapacityType}] = true
		if i <= alternatives {
			seen[o.InstanceType] = true
		}
	}
	var out []model.Option
	verifier := check.NewOptionVerifier(s, n)
	for i := range offers {
		o := &offers[i]
		if o.Effective < n.Options[0].Effective || seen[o.InstanceType] || !places[place{o.Zone, o.CapacityType}] || !verifier.Accepts(*o) {
			continue
		}
		seen[o.InstanceType] = true
		if out = append(out, *o); len(out) == alternatives {
			break
		}
	}
	return out
}
