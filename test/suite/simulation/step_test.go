package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// step moves the cluster on by d.
func (w *simulatedCluster) step(d time.Duration) {
	w.clock.Advance(d)
	w.boots()
	w.scale()
	w.schedule()
	w.drain()
}

// registration is how long an instance may take to become a node.
const registration = 15 * time.Minute

// boots turns machines into nodes when their time has come.
func (w *simulatedCluster) boots() {
	now := w.clock.Now()
	for _, m := range slices.Clone(w.nodes) {
		switch age := now.Sub(m.LaunchedAt); {
		case m.State != model.InFlight:
		case m.stuck && age >= registration:
			w.end(m)
		case !m.stuck && age >= w.boot:
			m.State, m.InitializedAt = model.Initialized, now
		}
	}
}

// scale creates and deletes pods until every Deployment has its number.
func (w *simulatedCluster) scale() {
	for _, d := range w.deploys {
		n := 0
		w.pods = slices.DeleteFunc(w.pods, func(p *pod) bool {
			if p.of != d {
				return false
			}
			if n++; n > d.want {
				w.touched(p.node)
				return true
			}
			return false
		})
		for ; n < d.want; n++ {
			w.made++
			w.pods = append(w.pods, &pod{name: fmt.Sprintf("%s-%05d", d.name, w.made), of: d, since: w.clock.Now()})
		}
	}
}

func (w *simulatedCluster) touched(claim string) {
	if m := w.find(claim); m != nil {
		m.LastPodEvent = w.clock.Now()
	}
}

// free is what a node has left.
func (w *simulatedCluster) free(m *machine) model.Resources {
	out := m.Allocatable.Clone()
	for _, p := range w.pods {
		if p.node == m.Claim {
			for name, n := range w.specs[p.of.spec].Requests {
				out[name] -= n
			}
		}
	}
	return out
}

// schedule binds pods as the default scheduler does: to the emptiest node that
// fits, except that a nomination is tried first.
func (w *simulatedCluster) schedule() {
	free := map[string]model.Resources{}
	var open []*machine
	for _, m := range w.nodes {
		if m.State == model.Initialized && !tainted(&m.Node) {
			open = append(open, m)
			free[m.Claim] = w.free(m)
		}
	}
	w.rng.Shuffle(len(w.pods), func(i, j int) { w.pods[i], w.pods[j] = w.pods[j], w.pods[i] })
	for _, p := range w.pods {
		if p.node != "" {
			continue
		}
		spec := &w.specs[p.of.spec]
		fits := slices.DeleteFunc(slices.Clone(open), func(m *machine) bool {
			for name, n := range spec.Requests {
				if free[m.Claim][name] < n {
					return true
				}
			}
			for key, value := range spec.NodeSelector {
				if m.Labels[key] != value {
					return true
				}
			}
			return false
		})
		if len(fits) == 0 {
			if m := w.find(p.plan); m == nil || m.State != model.InFlight {
				p.plan = ""
			}
			continue
		}
		best := slices.MaxFunc(fits, func(a, b *machine) int {
			if (a.Claim == p.plan) != (b.Claim == p.plan) {
				if a.Claim == p.plan {
					return 1
				}
				return -1
			}
			return cmp.Compare(free[a.Claim][model.CPU], free[b.Claim][model.CPU])
		})
		p.node, p.plan, p.since, p.evicted = best.Claim, "", w.clock.Now(), false
		for name, n := range spec.Requests {
			free[best.Claim][name] -= n
		}
		w.touched(best.Claim)
	}
}

// drain evicts what disruption budgets let go, and ends empty machines.
func (w *simulatedCluster) drain() {
	for _, m := range slices.Clone(w.nodes) {
		if !m.deleting {
			continue
		}
		left := 0
		for _, p := range w.pods {
			switch {
			case p.node != m.Claim:
			case w.spare(p.of) == 0:
				left++
			default:
				w.made++ // its Deployment makes another one
				*p = pod{name: fmt.Sprintf("%s-%05d", p.of.name, w.made), of: p.of, since: w.clock.Now(), evicted: true}
			}
		}
		if left == 0 {
			w.end(m)
		}
	}
}

// end takes a machine away, with its node and claim.
func (w *simulatedCluster) end(m *machine) {
	if err := w.cloud.Terminate(w.t.Context(), m.id); err != nil {
		w.t.Fatal(err)
	}
	w.nodes = slices.DeleteFunc(w.nodes, func(x *machine) bool { return x == m })
}

// cost is what the nodes cost per hour.
func (w *simulatedCluster) cost() model.Price {
	var sum model.Price
	for _, m := range w.nodes {
		sum += m.Price
	}
	return sum
}

// homeless counts pods without a node.
func (w *simulatedCluster) homeless() int {
	n := 0
	for _, p := range w.pods {
		if p.node == "" {
			n++
		}
	}
	return n
}
