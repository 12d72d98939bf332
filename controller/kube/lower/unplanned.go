package lower

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/managed"
)

// unplannedNamespace is the namespace of the pod that stands for an unplanned claim.
// Kubernetes allows no namespace of this name.
const unplannedNamespace = "karpenter.sh/nodeclaim"

// ByAge orders claims, the oldest first.
func ByAge(a, b *karpv1.NodeClaim) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// IsUnplanned reports whether a claim is still to be launched and has no options to do it
// with: a person wrote it, or Karpenter, which chooses from the requirements at the
// launch.
func IsUnplanned(claim *karpv1.NodeClaim) bool {
	return managed.Claim(claim) && claim.DeletionTimestamp.IsZero() && !isLaunched(claim) && claim.Annotations[karpv1.AnnotationLaunch] == ""
}

// ForClaim returns a snapshot whose decision is the launch of one unplanned claim: the
// claim's spec takes the place of its NodePool, and a single pod asks for a node from it.
// Policies, ceilings and reviews then see the launch as any other. The limits of the
// NodePool do not apply: whoever made the claim has decided that it may exist.
// notReady says why nothing can be launched from the claim's node class, "" when it can.
// s is not changed.
func ForClaim(s *model.Snapshot, claim *karpv1.NodeClaim, notReady string) model.Snapshot {
	out := *s
	pool := claimPool(s, claim, notReady)
	if chosen, _ := ChosenLabels(claim.Spec.Requirements); chosen != nil && pool.Catalog >= 0 {
		out.Catalogs = append(slices.Clip(s.Catalogs), withLabels(s.Catalogs[pool.Catalog], chosen))
		pool.Catalog = int32(len(s.Catalogs))
	}
	out.Pools = slices.Clone(s.Pools)
	for i := range out.Pools {
		out.Pools[i].NotReady = "the NodeClaim is another's"
	}
	if at := slices.IndexFunc(s.Pools, func(p model.Pool) bool { return p.Name == pool.Name && pool.Name != "" }); at >= 0 {
		pool.Labels, pool.UID, pool.Disruption = s.Pools[at].Labels, s.Pools[at].UID, s.Pools[at].Disruption
		out.Pools[at] = pool
	} else {
		out.Pools = append(out.Pools, pool)
	}
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		if n := &out.Nodes[i]; n.Claim == claim.Name { // it is about to be counted
			n.Price, n.Reserved, n.Extra = 0, 0, 0
		}
	}
	out.Pods = slices.Clone(s.Pods)
	for i := range out.Pods {
		out.Pods[i].Final = true // not this decision's concern
	}
	out.Pods = append(out.Pods, model.Pod{
		UID: string(claim.UID), Namespace: unplannedNamespace, Name: claim.Name, Node: -1,
		Spec: int32(len(s.Specs)), Created: claim.CreationTimestamp.UTC(),
	})
	out.Specs = append(slices.Clip(s.Specs), claimPod(claim))
	out.Daemons = nil // the claim's requests include them
	return out
}

// ClaimReasons returns why the plan for a snapshot of ForClaim launches nothing for the
// claim, in terms of what its author wrote.
func ClaimReasons(s *model.Snapshot, claim *karpv1.NodeClaim, plan *model.Plan) []model.Reason {
	pool := claim.Labels[karpv1.LabelNodePool]
	var out []model.Reason
	for i := range plan.Unplaced {
		for _, reason := range plan.Unplaced[i].Reasons {
			if s.Pods[plan.Unplaced[i].Pod].Name != claim.Name || reason.Pool != pool && reason.Pool != "" {
				continue
			}
			if reason.Code == model.RequirementsConflict {
				reason.Message = claimConflict(claim)
			}
			out = append(out, reason)
		}
	}
	return out
}

// claimConflict says which requirements of the claim nothing meets: those on a single label
// where these exclude each other, and all of them otherwise.
func claimConflict(claim *karpv1.NodeClaim) string {
	reqs := claim.Spec.Requirements
	all := make([]string, len(reqs))
	for i := range reqs {
		if key := reqs[i].Key; contradicts(reqs, key) {
			return fmt.Sprintf("spec.requirements: the requirements on %s have no value in common", key)
		}
		all[i] = reqs[i].Key + " " + string(reqs[i].Operator)
		if len(reqs[i].Values) > 0 {
			all[i] += fmt.Sprint(" ", reqs[i].Values)
		}
	}
	return "spec.requirements: no offering of the EC2NodeClass meets " + strings.Join(all, ", ")
}

// claimPool returns the pool that launches what the claim asks for.
func claimPool(s *model.Snapshot, claim *karpv1.NodeClaim, notReady string) model.Pool {
	out := model.Pool{
		Name: claim.Labels[karpv1.LabelNodePool], NodeLabels: map[string]string{},
		Taints: taints(claim.Spec.Taints), StartupTaints: taints(claim.Spec.StartupTaints), Usage: model.Resources{},
		NodeClass: claim.Spec.NodeClassRef.Name, NotReady: notReady,
		Catalog: int32(slices.IndexFunc(s.Catalogs, func(c model.Catalog) bool { return c.NodeClass == claim.Spec.NodeClassRef.Name })),
	}
	maps.Copy(out.NodeLabels, claim.Labels)
	out.NodeLabels[karpv1.AnnotationLaunch] = claim.Name // what the claim's pod selects
	out.Requirements = slices.DeleteFunc(requirements(claim.Spec.Requirements), func(r model.Requirement) bool {
		return r.Key == karpv1.LabelNodePool || r.Key == awsv1.LabelEC2NodeClass // facts about the claim
	})
	return out
}

// claimPod returns the spec of the pod that stands for a claim.
func claimPod(claim *karpv1.NodeClaim) model.PodSpec {
	requests := quantity.Resources(claim.Spec.Resources.Requests)
	if requests[model.PodSlots] == 0 {
		requests[model.PodSlots] = 1
	}
	return model.PodSpec{
		Namespace: unplannedNamespace, Requests: requests,
		NodeSelector: map[string]string{karpv1.AnnotationLaunch: claim.Name},
		Tolerations:  []model.Toleration{{Key: model.Placeholder, Exists: true}, {Exists: true}},
	}
}
