package insertion

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// accept adds the nodes to the plan and reports whether the bounds allow all of them:
// with all of their options, or else only with those that need no more than the cheapest.
func (t *Insertion) accept() bool {
	for i := range t.nodes {
		n := &t.nodes[i]
		n.node.Set = vec.NewBits(len(t.p.Supply.Offers))
		for j := n.offers.Next(n.first); j >= 0; j = n.offers.Next(j + 1) {
			n.node.Set.Set(t.partitions[n.partition].byCost[j])
		}
		n.node.Placed = mergeCounts(n.node.Placed)
	}
	for i := range t.hosts {
		t.hosts[i].Placed = mergeCounts(t.hosts[i].Placed)
	}
	if t.add() {
		return true
	}
	t.Attempt = commit.NewStrict(t.p, t.Attempt.Options, t.Attempt.Left)
	for i := range t.nodes {
		t.nodes[i].node.Options, t.nodes[i].node.Costs = nil, nil
	}
	return t.add()
}

// add adds the nodes to the plan and reports whether the bounds allow all of them.
func (t *Insertion) add() bool {
	for i := range t.nodes {
		if !t.Attempt.Add(t.nodes[i].node, t.nodes[i].cheapest) {
			return false
		}
	}
	return true
}

// mergeCounts joins the entries of each class.
func mergeCounts(takes []problem.ClassCount) []problem.ClassCount {
	slices.SortStableFunc(takes, func(a, b problem.ClassCount) int { return cmp.Compare(a.Class, b.Class) })
	out := takes[:0]
	for _, t := range takes {
		if last := len(out) - 1; last >= 0 && out[last].Class == t.Class {
			out[last].N += t.N
		} else {
			out = append(out, t)
		}
	}
	return out
}

// explain sets the reasons of the classes with pods left that constraints between
// pods excluded.
func (t *Insertion) explain() {
	for c := range t.p.Classes {
		cl := &t.p.Classes[c]
		if t.Attempt.Left[c] == 0 || len(cl.Reasons) > 0 {
			continue
		}
		if r := domains.Reason(t.space, t.rules.counts, int32(c), cl); r != nil {
			cl.Reasons = []model.Reason{*r}
		}
	}
	t.p.RejectUnmetAffinity(t.Attempt.Left)
}
