package solver

import (
	"cmp"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/bindorder"
	"spokeshave.dev/controller/core/solver/constraint"
)

// maxReplans is how many times a plan is made again without the pods that the
// scheduler would not bind. After that, all pods with affinity are left out.
// 2 and 8 change no plan (docs/measurements/solver.md).
const maxReplans = 4

// neverBoundMessage is the reason of the pods that are left out in this way.
const neverBoundMessage = "the pods that it wants near wait for it themselves, or for others that find no place"

// planBindable makes plans until the scheduler would bind every placed pod. It is
// needed because the scheduler binds pods one by one: constraints that hold in the
// complete plan may each wait for another pod to be bound first.
func planBindable(in Input, plan func(*Input) outcome) outcome {
	all := len(in.Pods)
	var left []int32
	for round := 0; ; round++ {
		found := plan(&in)
		unbindable := found.unbindable(&in)
		if len(unbindable) == 0 {
			found.widen(&in)
			found.addUnplaced(in.Snapshot, left)
			found.stats.Pods = all
			return found
		}
		out := make([]bool, len(in.Snapshot.Pods))
		for _, i := range unbindable {
			out[i] = true
		}
		rest := in.Pods[:0:0]
		for _, i := range in.Pods {
			if out[i] || round == maxReplans && len(in.Snapshot.Specs[in.Snapshot.Pods[i].Spec].PodAffinity) > 0 {
				left = append(left, i)
			} else {
				rest = append(rest, i)
			}
		}
		in.Pods = rest
	}
}

// addUnplaced adds pods to the plan's unplaced pods.
func (o *outcome) addUnplaced(s *model.Snapshot, pods []int32) {
	slices.SortFunc(pods, func(a, b int32) int {
		x, y := &s.Pods[a], &s.Pods[b]
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(a, b))
	})
	reasons := []model.Reason{{Code: model.PodAffinity, Message: neverBoundMessage}}
	for _, i := range pods {
		o.Unplaced = append(o.Unplaced, model.Unplaced{Pod: i, Reasons: reasons})
	}
}

// unbindable returns the placed pods that the scheduler would never bind.
func (o *outcome) unbindable(in *Input) []int32 {
	labels := make([]func(string) (string, bool), len(in.Snapshot.Nodes))
	for i := range o.hosts {
		labels[o.hosts[i].Node] = o.hosts[i].Labels
	}
	return bindorder.Unbindable(bindorder.Plan{
		Snapshot: in.Snapshot, Pods: in.Pods, Plan: o.Plan,
		Label: func(place int, key string) bindorder.Domain {
			if place >= len(labels) {
				return o.newNodeDomain(key, place-len(labels))
			}
			if v, ok := labels[place](key); ok {
				return bindorder.Value(v)
			}
			return bindorder.Absent
		},
	})
}

// newNodeDomain returns the value of a label at new node n: ambiguous when the
// offers that it may be launched as have different values. Offers without the label
// do not count.
func (o *outcome) newNodeDomain(key string, n int) bindorder.Domain {
	if key == constraint.LabelHostname {
		return bindorder.Value(strconv.Itoa(n) + " new")
	}
	out := bindorder.Absent
	for _, offer := range o.options[n] {
		v, ok := o.problem.Supply.OfferLabel(offer, key)
		switch {
		case !ok || out == bindorder.Value(v):
		case out == bindorder.Absent:
			out = bindorder.Value(v)
		default:
			return bindorder.Ambiguous
		}
	}
	return out
}
