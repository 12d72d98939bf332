package isolate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/policy"
)

// The shares of the process's memory that policies may hold while they are not asked: those
// of one plugin namespace, of all plugin namespaces, and all policies. What is left
// is for the question that is being answered, so that whoever exceeds the memory then has
// taken it.
const (
	teamShare  = 8
	teamsShare = 4
	allShare   = 2
)

// reserve numbers a policy and takes its share, until release is called or it is kept.
func (h *host) reserve(p *compiled) (release func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	// An earlier version goes when this one comes, and does not count.
	others, _ := h.others(p)
	if err := admit(h.cfg, p, others); err != nil {
		return nil, err
	}
	h.last++
	p.id = h.last
	h.coming[p.id] = p
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.coming, p.id)
	}, nil
}

// others returns the policies beside p, whether they have come or are about to: earlier versions of
// p apart. The caller has h.mu.
func (h *host) others(p *compiled) (others, earlier []*compiled) {
	all := maps.Clone(h.policies)
	maps.Copy(all, h.coming)
	for _, q := range all {
		switch {
		case q == p:
		case q.info.Namespace == p.info.Namespace && q.info.Name == p.info.Name:
			earlier = append(earlier, q)
		default:
			others = append(others, q)
		}
	}
	return others, earlier
}

// crowd is how much of the memory policies may hold while a version takes the place of another, unless
// there was too little to load it.
const crowd = 0.75

// leaving returns the numbers of the earlier versions of a policy that have to leave the process before it
// comes, because with both there would be too little memory. They are loaded again if they
// are asked. Where a process is filled for no policy in particular, all earlier versions leave.
func (h *host) leaving(p *compiled) map[uint64]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p == nil {
		return h.superseded()
	}
	others, earlier := h.others(p)
	all := p.holds
	for _, q := range slices.Concat(others, earlier) {
		all += q.holds
	}
	out := map[uint64]bool{}
	if !p.cramped && float64(all) <= h.cfg.crowd*float64(h.cfg.Memory) {
		return out
	}
	if p.cramped {
		out = h.superseded()
	}
	for _, q := range earlier {
		if q.id < p.id {
			out[q.id] = true
		}
	}
	return out
}

// superseded returns the numbers of the policies of which there is a newer version. The caller has h.mu.
func (h *host) superseded() map[uint64]bool {
	newest := map[[2]string]uint64{}
	for id, q := range h.policies {
		key := [2]string{q.info.Namespace, q.info.Name}
		newest[key] = max(newest[key], id)
	}
	out := map[uint64]bool{}
	for id, q := range h.policies {
		if id < newest[[2]string{q.info.Namespace, q.info.Name}] {
			out[id] = true
		}
	}
	return out
}

// cramp notes that there was too little memory for a policy beside its earlier versions, which leave
// from now on, and so do those of others. It reports whether that is new, and makes a difference.
func (h *host) cramp(p *compiled) bool {
	if p == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before, leave := p.cramped, h.superseded()
	_, earlier := h.others(p)
	p.cramped = true
	return !before && (len(leave) > 0 || slices.ContainsFunc(earlier, func(q *compiled) bool { return q.id < p.id }))
}

// once leaves one version of each policy, the largest: the other one goes, or does not come.
func once(all []*compiled) map[[2]string]*compiled {
	out := map[[2]string]*compiled{}
	for _, q := range all {
		key := [2]string{q.info.Namespace, q.info.Name}
		if known := out[key]; known == nil || known.holds < q.holds {
			out[key] = q
		}
	}
	return out
}

// admit returns an error when the policy, with the others, would hold more than its share.
func admit(cfg *Config, p *compiled, others []*compiled) error {
	var team, teams, all uint64
	for _, q := range once(others) {
		all += q.holds
		if q.info.Match.Scope != nil {
			teams += q.holds
			if q.info.Namespace == p.info.Namespace {
				team += q.holds
			}
		}
	}
	if p.info.Match.Scope == nil {
		return over(p, "all policies", all, cfg.Memory/allShare)
	}
	for _, each := range []error{
		over(p, "the policies of namespace "+p.info.Namespace, team, cfg.Memory/teamShare),
		over(p, "the policies of all plugin namespaces", teams, cfg.Memory/teamsShare),
		over(p, "all policies", all, cfg.Memory/allShare),
	} {
		if each != nil {
			return each
		}
	}
	return nil
}

// over returns an error when the policy does not fit beside what others hold. Another attempt
// may succeed once they hold less, unless it does not fit alone.
func over(p *compiled, who string, others, most uint64) error {
	if others+p.holds <= most {
		return nil
	}
	kind := policy.FaultDeadline
	if p.holds > most {
		kind = policy.FaultTrap
	}
	return &unfit{refusal{
		text: fmt.Sprintf("it takes %.1f MiB of memory while it is not asked, and %s together may take %.0f MiB, of which others have %.1f; make its data smaller, remove others, or raise --rego-memory",
			mib(p.holds), who, mib(most), mib(others)),
		fault: policy.Fault{Kind: kind},
	}}
}

// unfit is the refusal of a policy that would hold more than its share.
type unfit struct{ refusal }

// ranOut reports whether an error is that of a process that has run out of memory.
func ranOut(err error) bool {
	var d *death
	return errors.As(err, &d) && d.kind == policy.FaultMemory
}

// crowded words the error of a policy that has passed its trial and for which there was no memory
// beside the others. Another attempt may succeed.
func crowded(err error, memory uint64) error {
	if f := (*policy.Fault)(nil); !errors.As(err, &f) || f.Kind != policy.FaultMemory {
		return err
	}
	return &refusal{
		text: fmt.Sprintf("there was no memory to load it beside the other policies, which share %d MiB; make its data smaller, remove others, or raise --rego-memory",
			memory>>20),
		fault: policy.Fault{Kind: policy.FaultDeadline},
	}
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }
