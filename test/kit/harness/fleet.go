package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// Machine is a NodeClaim with what belongs to it.
type Machine struct {
	Claim, Node, Pool        string
	Type, Zone, CapacityType string
	// Price is in dollars an hour.
	Price       float64
	Initialized bool
	Deleting    bool
	Decision    string
	// Pods run on the node, without DaemonSets; AsPlanned of Planned pods are
	// bound where the plan put them.
	Pods, Planned, AsPlanned int
}

// Fleet is every NodeClaim, sorted by NodePool and name.
func (s *Stack) Fleet(ctx context.Context) ([]Machine, error) {
	claims, pods := &karpv1.NodeClaimList{}, &corev1.PodList{}
	if err := s.Client.List(ctx, claims); err != nil {
		return nil, fmt.Errorf("list NodeClaims: %w", err)
	}
	if err := s.Client.List(ctx, pods); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	bound, count := map[string]string{}, map[string]int{}
	for i := range pods.Items {
		p := &pods.Items[i]
		bound[p.Namespace+"/"+p.Name] = p.Spec.NodeName
		if p.DeletionTimestamp == nil {
			count[p.Spec.NodeName]++
		}
	}
	out := make([]Machine, 0, len(claims.Items))
	for i := range claims.Items {
		m, err := machine(&claims.Items[i], bound)
		if err != nil {
			return nil, err
		}
		m.Pods = count[m.Node]
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Machine) int { return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Claim, b.Claim)) })
	return out, nil
}

func machine(c *karpv1.NodeClaim, bound map[string]string) (Machine, error) {
	m := Machine{
		Claim: c.Name, Node: c.Status.NodeName, Pool: c.Labels[karpv1.LabelNodePool],
		Type: c.Labels[corev1.LabelInstanceTypeStable], Zone: c.Labels[corev1.LabelTopologyZone],
		CapacityType: c.Labels[karpv1.LabelCapacityType], Decision: c.Annotations[karpv1.AnnotationDecision],
		Deleting: c.DeletionTimestamp != nil,
	}
	for _, each := range c.Status.Conditions {
		m.Initialized = m.Initialized || each.Type == karpv1.ConditionInitialized && each.Status == "True"
	}
	var options []model.Option
	var planned []string
	for annotation, into := range map[string]any{karpv1.AnnotationLaunch: &options, karpv1.AnnotationPlannedPods: &planned} {
		if text := c.Annotations[annotation]; text != "" {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				return m, fmt.Errorf("read annotation %s of %s: %w", annotation, c.Name, err)
			}
		}
	}
	for _, o := range options {
		if o.InstanceType == m.Type && o.Zone == m.Zone && string(o.CapacityType) == m.CapacityType {
			m.Price = o.Price.USD()
		}
	}
	for _, pod := range planned {
		node, exists := bound[pod]
		if exists && node != "" {
			m.Planned++
			if node == m.Node {
				m.AsPlanned++
			}
		}
	}
	return m, nil
}

// Hourly is what the machines cost in dollars an hour.
func Hourly(fleet []Machine) float64 {
	sum := 0.0
	for i := range fleet {
		sum += fleet[i].Price
	}
	return sum
}

// Families are the instance families in the fleet, sorted.
func Families(fleet []Machine) []string {
	var out []string
	for i := range fleet {
		family, _, _ := strings.Cut(fleet[i].Type, ".")
		out = append(out, family)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Consistent checks the invariant: the instances in EC2, the nodes of
// NodePools and the NodeClaims are the same machines, and all of them are up.
func (s *Stack) Consistent(ctx context.Context) (string, bool) {
	fleet, err := s.Fleet(ctx)
	if err != nil {
		return err.Error(), false
	}
	instances, err := s.Instances(ctx)
	if err != nil {
		return err.Error(), false
	}
	nodes := &corev1.NodeList{}
	if err := s.Client.List(ctx, nodes); err != nil {
		return err.Error(), false
	}
	up := map[string]string{} // claim by node
	ready := true
	for i := range fleet {
		up[fleet[i].Node] = fleet[i].Claim
		ready = ready && fleet[i].Initialized && !fleet[i].Deleting
	}
	ours := 0
	for i := range nodes.Items {
		if nodes.Items[i].Labels[karpv1.LabelNodePool] != "" {
			ours++
			ready = ready && up[nodes.Items[i].Name] != ""
		}
	}
	claims := map[string]bool{}
	for i := range fleet {
		claims[fleet[i].Claim] = true
	}
	for _, i := range instances {
		ready = ready && claims[i.Claim]
		delete(claims, i.Claim)
	}
	state := fmt.Sprintf("%d instances, %d nodes, %d NodeClaims", len(instances), ours, len(fleet))
	return state, ready && len(instances) == len(fleet) && ours == len(fleet)
}
