package solver

import (
	"cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// class is a set of pods that the scheduler treats alike.
type class struct {
	spec     *model.PodSpec
	req      vec.Vector
	priority int32
	ports    int32
	// terms are the pods' topology terms. conflict numbers what they exclude from
	// their node.
	terms    *constraint.Terms
	conflict int32
	// offers is the number of the set of offers that the constraints allow, whatever
	// their size.
	offers int32
	// pods are sorted by namespace and name. In a bundle's class they come group
	// after group; bundleSize is the number of pods of a group, 0 for ordinary
	// classes, and otherSpecs are the specs of the group's other pods.
	pods       []int32
	bundleSize int32
	otherSpecs []*model.PodSpec
	// key identifies the class and decides the order of equal classes.
	key string
	// reasons are set when the class cannot be placed in this plan.
	reasons []model.Reason
	// noBundleReason says why pods with affinity on their own node are in no bundle.
	noBundleReason string
}

// n returns how many pods, or groups of a bundle, are to be placed.
func (c *class) n() int32 { return int32(len(c.pods)) / max(1, c.bundleSize) }

// sortClasses returns the list in the order of compareClasses.
func sortClasses(list []class) []class { return pick(list, classOrder(list)) }

// classOrder returns the indexes of the classes in the order of compareClasses.
func classOrder(list []class) []int32 {
	return vec.Ordered(len(list), func(a, b int32) int { return compareClasses(&list[a], &list[b]) })
}

// pick returns the elements of a list with the given indexes.
func pick[T any](list []T, order []int32) []T {
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}

// compareClasses orders classes by priority, highest first, then by size, largest
// first.
func compareClasses(a, b *class) int {
	if o := cmp.Compare(b.priority, a.priority); o != 0 {
		return o
	}
	if o := b.req.Compare(&a.req); o != 0 {
		return o
	}
	return cmp.Compare(a.key, b.key)
}

// classCount is a number of pods of a class.
type classCount struct{ class, n int32 }

// needsOthersOnHost is 1 for pods with affinity to others on their own node, which
// must be placed first, 0 for the rest.
func (c *class) needsOthersOnHost() int {
	if c.terms.NeedsOthersOnHost() {
		return 1
	}
	return 0
}

// rejectUnmetAffinity sets the reasons of the classes whose host affinity was not
// met and returns their pods. They must be planned together with the pods they
// require.
func (p *problem) rejectUnmetAffinity(left []int32) []int32 {
	var out []int32
	for c := range p.classes {
		cl := &p.classes[c]
		if left[c] == 0 || len(cl.reasons) > 0 || cl.needsOthersOnHost() == 0 {
			continue
		}
		why := cl.noBundleReason
		if why == "" {
			why = "no node with the pods that it wants on its own node has room for it"
		}
		cl.reasons = []model.Reason{{Code: model.PodAffinity, Message: why}}
		out = append(out, cl.pods[(cl.n()-left[c])*max(1, cl.bundleSize):]...)
	}
	return out
}
