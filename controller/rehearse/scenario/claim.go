package scenario

import (
	"fmt"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
)

// ReportClaim is a NodeClaim that somebody wrote and that is to be launched: with the best
// of its options, or, when there is none, with the reasons.
type ReportClaim struct {
	Claim        string             `json:"claim"`
	InstanceType string             `json:"instanceType,omitempty"`
	Zone         string             `json:"zone,omitempty"`
	CapacityType model.CapacityType `json:"capacityType,omitempty"`
	Price        float64            `json:"price,omitempty"`
	Reasons      []model.Reason     `json:"reasons,omitempty"`
}

// Unplanned returns the claims that are to be launched and that no decision has chosen
// options for.
func (o *Objects) Unplanned() []*karpv1.NodeClaim {
	var out []*karpv1.NodeClaim
	for _, c := range o.NodeClaims {
		if lower.IsUnplanned(c) {
			out = append(out, c)
		}
	}
	return out
}

// ClassProblem returns why nothing can be launched from a claim's node class, "" when it
// can. A class that is not among the manifests is missing if other classes are.
func (o *Objects) ClassProblem(c *karpv1.NodeClaim) string {
	name := c.Spec.NodeClassRef.Name
	if o.lacksClass(name) {
		return "EC2NodeClass " + name + ": does not exist"
	}
	if ready, why := o.classReady(name); !ready {
		return "EC2NodeClass " + name + ": " + why
	}
	return ""
}

func (o *Objects) lacksClass(name string) bool { return o.class(name) == nil && len(o.NodeClasses) > 0 }

// Claim adds the decision about a claim, made on the snapshot that lower.ForClaim returned
// for it.
func (r *Report) Claim(c *karpv1.NodeClaim, s *model.Snapshot, d *decide.Decision) {
	one := ReportClaim{Claim: c.Name}
	if len(d.Plan.Nodes) == 1 {
		best := &d.Plan.Nodes[0].Options[0]
		one.InstanceType, one.Zone, one.CapacityType, one.Price = best.InstanceType, best.Zone, best.CapacityType, best.Price.USD()
	} else {
		one.Reasons = lower.ClaimReasons(s, c, &d.Plan)
	}
	r.Claims = append(r.Claims, one)
}

// Waits reports whether something stays without a node: a pod or a claim.
func (r *Report) Waits() bool {
	for i := range r.Claims {
		if r.Claims[i].InstanceType == "" {
			return true
		}
	}
	return len(r.Unscheduled) > 0
}

// claims prints the claims.
func (r *Report) claims(b *page) {
	if len(r.Claims) == 0 {
		return
	}
	b.WriteString("\n")
	rows(b, func(row func(...any)) {
		row("NODECLAIM", "TYPE", "ZONE", "CAPACITY", "$/HOUR")
		for i := range r.Claims {
			c := &r.Claims[i]
			if c.InstanceType == "" {
				row(c.Claim, "not launched", "-", "-", "-")
				continue
			}
			row(c.Claim, c.InstanceType, c.Zone, c.CapacityType, dollars(c.Price))
		}
	})
	for i := range r.Claims {
		for _, reason := range r.Claims[i].Reasons {
			fmt.Fprintf(&b.Builder, "  %s: %s: %s\n", r.Claims[i].Claim, reason.Code, reason.Message)
		}
	}
}
