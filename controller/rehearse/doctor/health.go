package doctor

import (
	"cmp"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/rehearse/wording"
)

// Names of the leases that the controller holds, unless its settings say otherwise.
const (
	ownLease        = "spokeshave-leader-election"
	karpenterLease  = "karpenter-leader-election"
	karpenterSystem = "kube-system"
)

// Condition is how an installed Spokeshave does.
type Condition struct {
	// Mode is Act or Observe.
	Mode string `json:"mode"`
	// Lease names who holds its own lease, KarpenterLease who holds Karpenter's; empty
	// for nobody.
	Lease          string `json:"lease,omitempty"`
	KarpenterLease string `json:"karpenterLease,omitempty"`
	// Policies are all policies, Failing those that are rejected or tripped.
	Policies int      `json:"policies"`
	Failing  []string `json:"failingPolicies,omitempty"`
}

// lease names a lease.
type lease struct{ namespace, name string }

func (l lease) String() string { return "Lease " + l.namespace + "/" + l.name }

// leases returns the controller's own lease and Karpenter's, by its settings.
func leases(s *Installation) (own, karpenters lease) {
	return lease{cmp.Or(s.Setting("leader-election-namespace"), s.Namespace), cmp.Or(s.Setting("leader-election-name"), ownLease)},
		lease{cmp.Or(s.Setting("karpenter-lease-namespace"), karpenterSystem), cmp.Or(s.Setting("karpenter-lease-name"), karpenterLease)}
}

// condition looks at leases and policies.
func condition(in *Input) *Condition {
	s, c := in.Spokeshave, in.Cluster
	own, karpenters := leases(s)
	out := &Condition{Mode: cmp.Or(s.Setting("mode"), "Act"), Policies: len(c.Policies), Lease: holder(c.Leases, own, in), KarpenterLease: holder(c.Leases, karpenters, in)}
	for i := range c.Policies {
		p := &c.Policies[i]
		if p.State == policy.StateRejected || p.State == policy.StateTripped {
			out.Failing = append(out.Failing, fmt.Sprintf("%s/%s is %s: %s", p.Namespace, p.Name, p.State, cmp.Or(p.Reason, "it failed several times in a row")))
		}
	}
	return out
}

// holder returns who holds a lease at the time of the report, "" for nobody.
func holder(all []*coordinationv1.Lease, of lease, in *Input) string {
	for _, l := range all {
		if l.Namespace != of.namespace || l.Name != of.name || l.Spec.HolderIdentity == nil || l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
			continue
		}
		// Twice its duration: the clock here need not agree with the cluster's.
		if in.Time.Sub(l.Spec.RenewTime.Time).Seconds() <= 2*float64(*l.Spec.LeaseDurationSeconds) {
			return *l.Spec.HolderIdentity
		}
	}
	return ""
}

// isRead reports whether a list was read.
func (c *Cluster) isRead(what string) bool {
	for i := range c.Unread {
		if c.Unread[i].What == what {
			return false
		}
	}
	return c.Live
}

func healthFindings(in *Input, h *Condition) []Finding {
	if h == nil {
		return nil
	}
	s, c := in.Spokeshave, in.Cluster
	subject := "Deployment " + s.Namespace + "/" + s.Name
	var out []Finding
	if c.Live && s.Ready < s.Replicas {
		out = append(out, Finding{Health, true, subject, fmt.Sprintf("%d of %s ready", s.Ready, wording.Plural(int(s.Replicas), "replica")), fmt.Sprintf("kubectl --namespace %s describe pods says why", s.Namespace)})
	}
	if s.Replicas == 0 {
		out = append(out, Finding{Health, true, subject, "it has no replicas: nothing is launched", "scale it up, or remove the release"})
	}
	if c.isRead("leases") && s.Replicas > 0 {
		out = append(out, leaseFindings(in, h)...)
	}
	for _, text := range h.Failing {
		out = append(out, Finding{Health, true, "policy " + firstWord(text), text, "correct the policy and push it again: spokeshave policy vet names the fault"})
	}
	return out
}

func leaseFindings(in *Input, h *Condition) []Finding {
	s := in.Spokeshave
	own, karpenters := leases(s)
	if h.Lease == "" {
		return []Finding{{Health, true, own.String(), "nobody holds it: no replica leads", fmt.Sprintf("kubectl --namespace %s logs deployment/%s says why", s.Namespace, s.Name)}}
	}
	if h.Mode == "Act" && h.KarpenterLease != h.Lease {
		who := cmp.Or(h.KarpenterLease, "nobody")
		return []Finding{{Health, true, karpenters.String(), who + " holds it, not the replica that leads: it waits and launches nothing", "stop Karpenter: scale its Deployment to 0"}}
	}
	return nil
}
