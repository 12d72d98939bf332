package isolate

import (
	"fmt"
	"maps"

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
	if err := h.admit(p); err != nil {
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

// admit returns an error when the policy, with the others, would hold more than its share. An
// earlier version of it goes when it comes, and does not count. The caller has h.mu.
func (h *host) admit(p *compiled) error {
	var team, teams, all uint64
	others := maps.Clone(h.policies)
	maps.Copy(others, h.coming)
	for _, q := range others {
		if q.info.Namespace == p.info.Namespace && q.info.Name == p.info.Name {
			continue
		}
		all += q.holds
		if q.info.Match.Scope != nil {
			teams += q.holds
			if q.info.Namespace == p.info.Namespace {
				team += q.holds
			}
		}
	}
	if p.info.Match.Scope == nil {
		return over(p, "all policies", all, h.cfg.Memory/allShare)
	}
	for _, each := range []error{
		over(p, "the policies of namespace "+p.info.Namespace, team, h.cfg.Memory/teamShare),
		over(p, "the policies of all plugin namespaces", teams, h.cfg.Memory/teamsShare),
		over(p, "all policies", all, h.cfg.Memory/allShare),
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
	return &refusal{
		text: fmt.Sprintf("it takes %.1f MiB of memory while it is not asked, and %s together may take %.0f MiB, of which others have %.1f; make its data smaller, remove others, or raise --rego-memory",
			mib(p.holds), who, mib(most), mib(others)),
		fault: policy.Fault{Kind: kind},
	}
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }
