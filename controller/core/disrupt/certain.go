package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// The plan says where evicted pods should go, and the Kubernetes scheduler
// says where they do go: pods of Deployments come back under other names, and
// are put on the emptiest node that takes them. A plan that needs them packed
// tightly then leaves one over, a node is launched for it, and the cluster is
// rearranged for ever. So a consolidation must also work out that way, in
// whatever order the pods come.

// orders is in how many orders the pods are tried.
const orders = 4

// certain says whether the pods find their places without being told, together
// with all others that are to move: those of what was accepted before, and
// those that wait for the scheduler.
func (sc *Scene) certain(p *Proposal) bool { return len(sc.lost(p)) == 0 }

// lost are pods that find no place in some order: the fewest that one of the
// orders leaves over, none when every order works out.
func (sc *Scene) lost(p *Proposal) []int32 {
	if sc.Trusting {
		return nil
	}
	snap := *p.Sim.Input.Snapshot
	snap.Nodes = slices.Clone(snap.Nodes)
	for _, i := range sc.hosts {
		snap.Nodes[i] = sc.ready(snap.Nodes[i])
	}
	for i := range p.Sim.Plan.Nodes {
		snap.Nodes = append(snap.Nodes, sc.ready(sc.coming(&p.Sim.Plan.Nodes[i])))
	}
	pods := slices.Concat(sc.moves, p.Sim.Input.Pods)
	moving := make([]bool, len(snap.Pods))
	for _, i := range pods {
		moving[i] = true
	}
	r := newRooms(sc.land(), &snap, moving)
	slices.SortStableFunc(pods, func(a, b int32) int {
		return cmp.Compare(r.scale(snap.Pods[a].Spec), r.scale(snap.Pods[b].Spec))
	})
	seed := snap.Seed
	var out []int32
	for range orders {
		if left := r.scatter(pods); len(left) > 0 && (out == nil || len(left) < len(out)) {
			out = left
		}
		seed = shuffle(pods, seed)
	}
	return out
}

// ready is a node that is still coming as it will be.
func (sc *Scene) ready(n model.Node) model.Node {
	if n.State == model.InFlight || n.State == model.Registered {
		n.State = model.Initialized
		n.Taints = nil
		if n.Pool >= 0 {
			n.Taints = sc.snap.Pools[n.Pool].Taints
		}
	}
	return n
}

// shuffle mixes a list by a linear congruential generator (Knuth's MMIX) and
// returns its state: the same snapshot is judged the same way.
func shuffle[T any](list []T, seed uint64) uint64 {
	for i := len(list) - 1; i > 0; i-- {
		seed = seed*6364136223846793005 + 1442695040888963407
		j := int((seed >> 33) % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return seed
}

// scatter sends every pod to the emptiest node and returns those that find no
// room. Nothing is taken in the end.
func (r *rooms) scatter(pods []int32) (left []int32) {
	moves := make([]placed, 0, len(pods))
	for _, p := range pods {
		spec := r.s.Pods[p].Spec
		at := r.emptiest(spec)
		if at < 0 {
			left = append(left, p)
			continue
		}
		r.take(at, spec, 1)
		moves = append(moves, placed{spec, at})
	}
	r.undo(moves)
	return left
}
