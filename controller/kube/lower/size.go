package lower

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

const (
	// mostReported is how much of a resource, as a multiple of the catalogue's, a node may
	// report of itself. The catalogue leaves out the memory that firmware and kernel are
	// assumed to take, which a node may have in fact.
	mostReported = 1.25
	// leastReported is the same for the capacity that counts towards limits.
	leastReported = 0.5
)

// boundSize keeps what a node and its claim's status report of CPUs and memory within reach
// of the instance type's: whoever may write either could otherwise attract pods to the node,
// use up the limits of its NodePool, or stay below them. A smaller allocatable is believed,
// since kube-scheduler goes by it.
func (b *builder) boundSize(n *model.Node, capacity *model.Resources, node *corev1.Node, claim *karpv1.NodeClaim) {
	t := b.typeOf(n.InstanceType, claim)
	if t == nil {
		return
	}
	var wrong []string
	for _, name := range []string{cpu, model.Memory} {
		most := int64(mostReported * float64(t.Capacity[name]))
		if have := n.Allocatable[name]; most > 0 && have > most {
			n.Allocatable = maps.Clone(n.Allocatable)
			n.Allocatable[name] = t.Allocatable[name]
			wrong = append(wrong, fmt.Sprintf("%s: %d allocatable", name, have))
		}
		have, stated := (*capacity)[name]
		if stated && most > 0 && (have > most || have < int64(leastReported*float64(t.Capacity[name]))) {
			*capacity = maps.Clone(*capacity)
			(*capacity)[name] = t.Capacity[name]
			wrong = append(wrong, fmt.Sprintf("%s: %d of capacity", name, have))
		}
	}
	if len(wrong) == 0 {
		return
	}
	slices.Sort(wrong)
	object := "NodeClaim " + claim.Name
	if node != nil {
		object = "Node " + node.Name
	}
	n.Mislabelled = true
	b.report(karpv1.EventNodeIdentityMismatch, object, "counted as what it is: it reports %s, which no %s has", strings.Join(wrong, ", "), t.Name)
}

// typeOf returns an instance type from the catalogue of the claim's class, else from any
// other, nil when none has it.
func (b *builder) typeOf(name string, claim *karpv1.NodeClaim) *model.InstanceType {
	if at, ok := b.catalogAt[claim.Spec.NodeClassRef.Name]; ok && b.types[at][name] != nil {
		return b.types[at][name]
	}
	for i := range b.types {
		if t := b.types[i][name]; t != nil {
			return t
		}
	}
	return nil
}
