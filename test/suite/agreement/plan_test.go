package agreement

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/lower"
)

// plan is a decision and the nodes that it leads to.
type plan struct {
	snapshot model.Snapshot
	decision decide.Decision
	// nodes are what joins for the claims, in the same order and named alike.
	claims []*karpv1.NodeClaim
	nodes  []*corev1.Node
	// at says where each planned pod goes, by namespace/name; those in fresh go
	// to new nodes.
	at    map[string]string
	fresh map[string]bool
}

// solve decides for the cluster as it is.
func solve(t *testing.T, s *scenario, in lower.Inputs) *plan {
	t.Helper()
	in.Time = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	in.NodePools = s.pools
	p := &plan{at: map[string]string{}, fresh: map[string]bool{}}
	p.snapshot, _ = lower.Build(in)
	var err error
	if p.decision, err = decide.Decide(t.Context(), &p.snapshot, nil, decide.Options{}); err != nil {
		t.Fatalf("seed %d: %v", s.seed, err)
	}
	for i := range p.decision.Plan.Existing {
		a := &p.decision.Plan.Existing[i]
		for _, pod := range a.Pods {
			p.at[p.snapshot.Pods[pod].Key()] = p.snapshot.Nodes[a.Node].Name
		}
	}
	rng := rand.New(rand.NewPCG(s.seed, 11))
	for i := range p.decision.Plan.Nodes {
		n := &p.decision.Plan.Nodes[i]
		claim, err := actuate.Claim(&p.snapshot, s.pools[poolOf(s, p.snapshot.Pools[n.Pool].Name)], &p.decision, i)
		if err != nil {
			t.Fatal(err)
		}
		// Every option has to hold all pods: any of them may come true.
		option := n.Options[rng.IntN(len(n.Options))]
		only, err := json.Marshal([]model.Option{option})
		if err != nil {
			t.Fatal(err)
		}
		claim.Annotations[karpv1.AnnotationLaunch] = string(only)
		claim.OwnerReferences = nil // there is no such NodePool, and claims without go
		node := launch(&p.snapshot, n, claim, option)
		p.claims, p.nodes = append(p.claims, claim), append(p.nodes, node)
		for _, pod := range n.Pods {
			key := p.snapshot.Pods[pod].Key()
			p.at[key], p.fresh[key] = node.Name, true
		}
	}
	return p
}

func poolOf(s *scenario, name string) int {
	for i := range s.pools {
		if s.pools[i].Name == name {
			return i
		}
	}
	return -1
}

// launch is the node that joins when the claim is launched as the option.
func launch(s *model.Snapshot, n *model.PlannedNode, claim *karpv1.NodeClaim, o model.Option) *corev1.Node {
	c := &s.Catalogs[s.Pools[n.Pool].Catalog]
	node := &corev1.Node{}
	node.Name = claim.Name
	node.Labels = map[string]string{}
	for i := range c.Types {
		t := &c.Types[i]
		if t.Name != o.InstanceType {
			continue
		}
		maps.Copy(node.Labels, t.Labels)
		node.Labels[corev1.LabelArchStable], node.Labels[corev1.LabelOSStable] = t.Arch, t.OS
		node.Status.Capacity, node.Status.Allocatable = quantities(t.Capacity), quantities(t.Allocatable)
		for _, of := range t.Offerings {
			if of.Zone == o.Zone {
				node.Labels["topology.k8s.aws/zone-id"] = of.ZoneID
			}
		}
	}
	maps.Copy(node.Labels, map[string]string{
		corev1.LabelHostname: node.Name, corev1.LabelInstanceTypeStable: o.InstanceType, corev1.LabelTopologyRegion: c.Region,
		corev1.LabelTopologyZone: o.Zone, karpv1.LabelCapacityType: string(o.CapacityType),
	})
	maps.Copy(node.Labels, claim.Labels)
	node.Spec.Taints = claim.Spec.Taints
	return node
}

func quantities(in model.Resources) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, n := range in {
		q := resource.NewQuantity(n, resource.BinarySI)
		if name == model.CPU {
			q = resource.NewMilliQuantity(n, resource.DecimalSI)
		}
		out[corev1.ResourceName(name)] = *q
	}
	return out
}

// String sums the plan up.
func (p *plan) String() string {
	return fmt.Sprintf("%d pods on %d new nodes, %d on existing ones, %d unplaced",
		len(p.fresh), len(p.nodes), len(p.at)-len(p.fresh), len(p.decision.Plan.Unplaced))
}

// alike counts the places planned on new nodes that a pod of the same kind has:
// pods of a Deployment stand for each other.
func (p *plan) alike(pods []*corev1.Pod) int {
	type place struct{ namespace, app, node string }
	want := map[place]int{}
	for _, pod := range pods {
		if key := pod.Namespace + "/" + pod.Name; p.fresh[key] {
			want[place{pod.Namespace, pod.Labels["app"], p.at[key]}]++
		}
	}
	n := 0
	for _, pod := range pods {
		if at := (place{pod.Namespace, pod.Labels["app"], pod.Spec.NodeName}); want[at] > 0 {
			want[at]--
			n++
		}
	}
	return n
}

// cause is why a pod is not where it was planned.
type cause string

const (
	unreserved cause = "no node was kept for it"
	existing   cause = "it fitted on a node that was there before"
	waits      cause = "it waits"
	outlasted  cause = "the reservation ended first"
	gone       cause = "it does not exist any more"
)

// cause looks at what the pod shows of its way to where it is.
func (p *plan) cause(pod *corev1.Pod) cause {
	fresh := slices.ContainsFunc(p.nodes, func(n *corev1.Node) bool { return n.Name == pod.Spec.NodeName })
	kept := slices.ContainsFunc(pod.Spec.Tolerations, func(x corev1.Toleration) bool { return x.Key == karpv1.TaintKeyReserved })
	switch {
	case !kept:
		return unreserved
	case pod.Spec.NodeName == "":
		return waits
	case !fresh:
		return existing
	default:
		return outlasted
	}
}
