package check

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// TestReplayTriesEveryOrder holds the replay to the plain definition: on small
// random scenes it finds an order that binds all pods exactly when trying all
// orders does.
func TestReplayTriesEveryOrder(t *testing.T) {
	bindable, stuck := 0, 0
	for seed := range uint64(3000) {
		s := randomScene(rand.New(rand.NewPCG(seed, 1)))
		snap, plan, c := s.plan()
		p := newProof(snap, plan, c)
		e := p.newEndState()
		got := len(newReplay(e).neverBound()) == 0
		want := newEveryOrder(e).bindsAll()
		if got != want {
			t.Fatalf("seed %d: the replay binds all pods: %t, some order does: %t\n%v\n%+v", seed, got, want, s.pods, s.specs)
		}
		if want {
			bindable++
		} else {
			stuck++
		}
	}
	if bindable < 300 || stuck < 300 {
		t.Errorf("%d scenes can be bound and %d cannot: too few of one kind", bindable, stuck)
	}
}

// randomScene is up to seven pods of four kinds on six nodes.
func randomScene(r *rand.Rand) *scene {
	s := &scene{specs: map[string]model.PodSpec{}, deleting: r.IntN(8) == 0}
	kinds := []string{"a", "b", "c", "d"}
	for _, app := range kinds {
		var spec model.PodSpec
		for range []int{0, 1, 1, 1, 2}[r.IntN(5)] {
			var wanted []string
			for _, other := range kinds {
				if r.IntN(3) > 0 {
					wanted = append(wanted, other)
				}
			}
			spec.PodAffinity = append(spec.PodAffinity, model.PodTerm{Key: []string{zone, zone, hostnameKey, rack}[r.IntN(4)], Selector: apps(wanted...)})
		}
		s.specs[app] = spec
	}
	places := []string{"+n1", "+n2", "+n3", "+n4", "+x:a", "+y:b", "+z:a,b", "+z:a,b"}
	if s.deleting {
		places[2] = "+n1"
	}
	for range 2 + r.IntN(5) {
		s.pods = append(s.pods, kinds[r.IntN(4)]+" "+places[r.IntN(len(places))])
	}
	if r.IntN(3) == 0 {
		s.pods = append(s.pods, kinds[r.IntN(4)]+" "+[]string{"n1", "n2", "n3"}[r.IntN(3)])
	}
	return s
}

// everyOrder binds pods in all orders, and evaluates the documented rule each time
// by looking at every pod that is bound.
type everyOrder struct {
	e     *endState
	bound []placedPod
	queue []placedPod
	dead  map[string]bool
}

type placedPod struct {
	node int
	spec *model.PodSpec
}

func newEveryOrder(e *endState) *everyOrder {
	o := &everyOrder{e: e, dead: map[string]bool{}}
	for i := range e.nodes {
		for _, pod := range e.nodes[i].pods {
			at := placedPod{i, &e.proof.snapshot.Specs[pod.spec]}
			if pod.fromPlan && len(at.spec.PodAffinity) > 0 {
				o.queue = append(o.queue, at)
			} else {
				o.bound = append(o.bound, at)
			}
		}
	}
	return o
}

// bindsAll says whether some order binds the rest of the queue. Whoever may be
// bound beside others is bound before any first pod, as the scheduler does not
// wait with a pod that it can bind.
func (o *everyOrder) bindsAll() bool {
	var key strings.Builder
	done := true
	for i := range o.queue {
		fmt.Fprint(&key, o.queue[i].spec == nil)
		done = done && o.queue[i].spec == nil
	}
	if done || o.dead[key.String()] {
		return done
	}
	for _, rule := range []func(placedPod) bool{o.findsOthers, o.isFirst} {
		for i, pod := range o.queue {
			if pod.spec == nil || !rule(pod) {
				continue
			}
			o.queue[i].spec = nil
			o.bound = append(o.bound, pod)
			if o.bindsAll() {
				return true
			}
			o.queue[i].spec = pod.spec
			o.bound = o.bound[:len(o.bound)-1]
			if o.findsOthers(pod) {
				o.dead[key.String()] = true
				return false
			}
		}
	}
	o.dead[key.String()] = true
	return false
}

// allSelect says whether all affinity terms of a pod select another.
func allSelect(pod, other *model.PodSpec) bool {
	for i := range pod.PodAffinity {
		if !selectorMatches(&pod.PodAffinity[i].Selector, other) {
			return false
		}
	}
	return true
}

// findsOthers: however the pod's node comes up, each term finds a bound pod in the
// node's domain, however that pod's node comes up.
func (o *everyOrder) findsOthers(pod placedPod) bool {
	for _, mine := range o.e.nodes[pod.node].outcomes {
		for _, t := range pod.spec.PodAffinity {
			domain, has := o.e.domainIn(pod.node, mine, t.Key)
			found := false
			for _, other := range o.bound {
				if !has || o.e.nodes[other.node].disappearing || !allSelect(pod.spec, other.spec) {
					continue
				}
				always := true
				for _, theirs := range o.e.nodes[other.node].outcomes {
					value, there := o.e.domainIn(other.node, theirs, t.Key)
					always = always && there && value == domain
				}
				found = found || always || other.node == pod.node
			}
			if !found {
				return false
			}
		}
	}
	return true
}

// isFirst: the pod selects itself, no bound pod on a node with a topology key is
// selected, and the pod's node has all keys.
func (o *everyOrder) isFirst(pod placedPod) bool {
	for _, t := range pod.spec.PodAffinity {
		for _, mine := range o.e.nodes[pod.node].outcomes {
			if _, has := o.e.domainIn(pod.node, mine, t.Key); !has {
				return false
			}
		}
		for _, other := range o.bound {
			for _, theirs := range o.e.nodes[other.node].outcomes {
				if _, has := o.e.domainIn(other.node, theirs, t.Key); has && allSelect(pod.spec, other.spec) {
					return false
				}
			}
		}
	}
	return allSelect(pod.spec, pod.spec)
}
