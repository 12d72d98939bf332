package journal

import (
	"slices"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// kindsKept is for how many kinds of pods a decision records why no existing node took
// them; refusalsKept is how many reasons it records for each.
const (
	kindsKept    = 20
	refusalsKept = 5
)

// whyNotExisting returns for every planned node why existing nodes did not take its
// pods. It examines every node and so runs outside the decision loop.
func whyNotExisting(s *model.Snapshot, d *decide.Decision) [][]NotOn {
	if len(d.Plan.Nodes) == 0 || len(s.Nodes) == 0 {
		return nil
	}
	filter, kinds := check.NewNodeFilter(s, &d.Plan), map[int32]bool{}
	out := make([][]NotOn, len(d.Plan.Nodes))
	for i := range d.Plan.Nodes {
		at := map[int32]int{} // of specs in out[i]
		for k, p := range d.Plan.Nodes[i].Pods {
			spec := s.Pods[p].Spec
			if kinds[spec] = true; len(kinds) > kindsKept {
				return out
			}
			if _, seen := at[spec]; !seen {
				at[spec] = len(out[i])
				why := filter.Refusals(p)
				out[i] = append(out[i], NotOn{Refusals: why[:min(len(why), refusalsKept)]})
			}
			out[i][at[spec]].Pods = append(out[i][at[spec]].Pods, k)
		}
	}
	return out
}

// afterthoughts are the parts of an entry that take longer to compute than the
// decision.
type afterthoughts struct {
	notOn [][]NotOn                 // by planned node
	types map[string][]model.Option // by claim
}

func think(s *model.Snapshot, d *decide.Decision) afterthoughts {
	return afterthoughts{whyNotExisting(s, d), otherTypes(s, d)}
}

// complete adds them to the entry. It copies the nodes first, because readers may hold
// the old ones.
func (e *Entry) complete(a *afterthoughts) {
	e.Nodes = slices.Clone(e.Nodes)
	for i := range e.Nodes {
		e.Nodes[i].OtherTypes = a.types[e.Nodes[i].Claim]
		if i < len(a.notOn) {
			e.Nodes[i].NotOn = a.notOn[i]
		}
	}
	e.Commands = slices.Clone(e.Commands)
	for i := range e.Commands {
		c := &e.Commands[i]
		c.Replacements = slices.Clone(c.Replacements)
		for k := range c.Replacements {
			c.Replacements[k].OtherTypes = a.types[c.Replacements[k].Claim]
		}
	}
}
