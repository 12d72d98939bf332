package journal

import (
	"cmp"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// bestKept and reasonsKept limit what is kept of a NodePool's offerings: the best ones,
// and some of those that were dropped, for every reason.
const (
	bestKept    = 10
	reasonsKept = 10
)

// Offerings are a NodePool's offerings after the rank policies.
type Offerings struct {
	NodePool string `json:"nodePool"`
	// Asked is the number of offerings that the NodePool's requirements allow.
	Asked int `json:"asked"`
	// Best are the offerings with the lowest effective cost, lowest first.
	Best []Ranked `json:"best"`
	// Dropped counts the dropped offerings by policy and reason, the most frequent
	// first.
	Dropped []Dropped `json:"dropped,omitempty"`
	// Refused is the fail-closed policy that gave no answer.
	Refused string `json:"refused,omitempty"`
}

// Ranked is an offering, with what policies noted about its score.
type Ranked struct {
	model.Option
	Remarks []policy.Remark `json:"remarks,omitempty"`
}

// Dropped are the offerings that a policy dropped for one reason.
type Dropped struct {
	Policy string `json:"policy"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Example is one of them.
	Example model.Option `json:"example"`
}

func offerings(s *model.Snapshot, d *decide.Decision) []Offerings {
	var out []Offerings
	for i := range d.Ranked {
		r := &d.Ranked[i]
		o := Offerings{NodePool: s.Pools[r.Pool].Name, Asked: len(r.Rows), Best: []Ranked{}}
		if r.Outcome.Refused != nil {
			o.Refused = r.Outcome.Refused.Policy + ": " + r.Outcome.Refused.Reason
		} else {
			o.rank(r)
		}
		out = append(out, o)
	}
	return out
}

func (o *Offerings) rank(r *decide.Ranked) {
	type why struct{ policy, reason string }
	dropped := map[why]*Dropped{}
	for i := range r.Rows {
		option := scored(r, i)
		if x, ok := r.Outcome.Excluded[i]; ok {
			key := why{x.Policy, x.Reason}
			if dropped[key] == nil {
				dropped[key] = &Dropped{Policy: x.Policy, Reason: x.Reason, Example: option}
			}
			dropped[key].Count++
			continue
		}
		best := Ranked{Option: option}
		if r.Outcome.Remarks != nil {
			best.Remarks = r.Outcome.Remarks[i]
		}
		o.Best = append(o.Best, best)
	}
	slices.SortStableFunc(o.Best, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(a.Effective, b.Effective), cmp.Compare(a.Price, b.Price))
	})
	o.Best = slices.Clone(o.Best[:min(len(o.Best), bestKept)])
	for _, d := range slices.SortedFunc(maps.Values(dropped), func(a, b *Dropped) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Reason, b.Reason))
	}) {
		if len(o.Dropped) < reasonsKept {
			o.Dropped = append(o.Dropped, *d)
		}
	}
}
