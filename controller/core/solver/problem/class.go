package problem

import (
	"cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Class is a set of pods that the scheduler treats alike.
type Class struct {
	Spec     *model.PodSpec
	Requests vec.Vector
	Priority int32
	// Ports is the number of the pods' host ports in Problem.Ports.
	Ports int32
	// Terms are the pods' topology terms, nil for none. Conflict numbers what they
	// exclude from their node, in Problem.Conflicts.
	Terms    *constraint.Terms
	Conflict int32
	// Choice is the number, in Problem.Choices, of the set of offers that the
	// constraints allow, whatever their size.
	Choice int32
	// Pods are sorted by namespace and name. In a bundle's class they come group
	// after group; BundleSize is the number of pods of a group, 0 for ordinary
	// classes, and BundleSpecs are the specs of the group's pods. Spec then has the
	// requests of the whole group.
	Pods        []int32
	BundleSize  int32
	BundleSpecs []*model.PodSpec
	// Key identifies the class and decides the order of equal classes.
	Key string
	// Reasons are set when the class cannot be placed in this plan.
	Reasons []model.Reason
	// NoBundleReason says why pods with affinity on their own node are in no bundle.
	NoBundleReason string
}

// N returns how many pods, or groups of a bundle, are to be placed.
func (c *Class) N() int32 { return int32(len(c.Pods)) / max(1, c.BundleSize) }

// SortClasses returns the list in the order of compareClasses.
func SortClasses(list []Class) []Class { return vec.Pick(list, ClassOrder(list)) }

// ClassOrder returns the indexes of the classes in the order of compareClasses.
func ClassOrder(list []Class) []int32 {
	return vec.Ordered(len(list), func(a, b int32) int { return compareClasses(&list[a], &list[b]) })
}

// compareClasses orders classes by priority, highest first, then by size, largest
// first.
func compareClasses(a, b *Class) int {
	if o := cmp.Compare(b.Priority, a.Priority); o != 0 {
		return o
	}
	if o := b.Requests.Compare(&a.Requests); o != 0 {
		return o
	}
	return cmp.Compare(a.Key, b.Key)
}

// ClassCount is a number of pods of a class.
type ClassCount struct{ Class, N int32 }

// NeedsOthersOnHost is 1 for pods with affinity to others on their own node, which
// must be placed first, 0 for the rest.
func (c *Class) NeedsOthersOnHost() int {
	if c.Terms.NeedsOthersOnHost() {
		return 1
	}
	return 0
}

// RejectUnmetAffinity sets the reasons of the classes whose host affinity was not
// met and returns their pods. They must be planned together with the pods they
// require.
func (p *Problem) RejectUnmetAffinity(left []int32) []int32 {
	var out []int32
	for c := range p.Classes {
		cl := &p.Classes[c]
		if left[c] == 0 || len(cl.Reasons) > 0 || cl.NeedsOthersOnHost() == 0 {
			continue
		}
		why := cl.NoBundleReason
		if why == "" {
			why = "no node with the pods that it wants on its own node has room for it"
		}
		cl.Reasons = []model.Reason{{Code: model.PodAffinity, Message: why}}
		out = append(out, cl.Pods[(cl.N()-left[c])*max(1, cl.BundleSize):]...)
	}
	return out
}
