package backtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
)

// pod is a pod that exists now.
type pod struct {
	*Pod

	node *machine // the node it is bound to
	plan *machine // the node it is planned onto
	// since is when it began to wait. until is when it ends; zero for never.
	since, until time.Time
	made         time.Time
	daemon       bool
	gone         bool
	// held says that a cap or a policy kept it waiting.
	held bool
}

// machine is a node, or an instance that is starting.
type machine struct {
	model.Node

	id       string // of the instance
	free     model.Resources
	pods     []*pod
	deleting bool
	gone     bool
	typ      *model.InstanceType
}

// simulation is a simulated cluster on a virtual clock, with the cloud that its machines
// run in.
//
// Size: the state of a whole simulated cluster; the methods of one theme are in one file.
type simulation struct {
	cfg     Config
	base    model.Snapshot
	clock   *sim.Clock
	cloud   *sim.Provider
	queue   events
	planned int

	rng, interrupts *rand.Rand
	market          *prices

	pods  []*pod
	nodes []*machine
	byID  map[string]*machine // by claim
	types map[string]int      // place in a catalogue, by class and name
	allow func(pool int, now time.Time, nodes, leaving int) (empty, underutilized, drifted int)
	// made is the number of claims and commands so far; names derive from it.
	made     int
	capped   bool
	ledger   spend.Ledger
	caps     map[string]map[string]policy.Cap
	departed []model.Departure
	searched time.Time
	// short are the scopes whose caps kept pods waiting in the last decision.
	short []string
	// decisionDue and disruptionDue are when the next decision, and the next decision on
	// disruption, are due; zero when none is.
	decisionDue, disruptionDue time.Time
	// changed says that the cluster has changed since disruption was last decided.
	changed bool

	tally counters
}

func (w *simulation) now() time.Time { return w.clock.Now() }

// advance moves the clock and charges the running machines.
func (w *simulation) advance(to time.Time) {
	d := to.Sub(w.now())
	if d <= 0 {
		return
	}
	w.tally.charge(w.nodes, d)
	w.clock.Advance(d)
}

// arrive schedules a pod's arrival.
func (w *simulation) arrive(p *Pod) {
	w.at(p.Arrival, func(context.Context) error {
		w.tally.pods++
		w.add(&pod{Pod: p, since: w.now(), made: w.now()})
		return nil
	})
}

// add adds a waiting pod to the cluster and tries to bind it.
func (w *simulation) add(p *pod) {
	w.pods = append(w.pods, p)
	w.bindOrDecide(p)
}

// bindOrDecide binds a waiting pod to a node with room, or else schedules a decision.
func (w *simulation) bindOrDecide(p *pod) {
	w.changed = true
	if m := w.roomFor(p); m != nil {
		w.bind(p, m)
		return
	}
	w.decideBy(w.now().Add(w.cfg.Batch))
}

func (w *simulation) bind(p *pod, m *machine) {
	p.node, p.plan = m, nil
	m.pods = append(m.pods, p)
	subtract(m.free, w.base.Specs[p.Spec].Requests, 1)
	m.LastPodEvent = w.now()
	w.changed = true
	w.decideDisruptionBy(w.now().Add(w.cfg.Look))
	w.tally.waited(w.now().Sub(p.since), p)
	if p.Lifetime == 0 || p.daemon {
		return
	}
	if p.until.IsZero() || p.Job {
		p.until = w.now().Add(p.Lifetime)
	}
	w.at(later(p.until, w.now()), func(context.Context) error {
		if !p.gone {
			w.end(p)
		}
		return nil
	})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// end removes a pod whose lifetime is over.
func (w *simulation) end(p *pod) {
	p.gone = true
	w.leave(p)
	w.decideDisruptionBy(w.now().Add(w.cfg.Look))
	w.changed = true
}

// leave frees the pod's room.
func (w *simulation) leave(p *pod) {
	m := p.node
	if m == nil {
		return
	}
	m.pods = slices.DeleteFunc(m.pods, func(x *pod) bool { return x == p })
	subtract(m.free, w.base.Specs[p.Spec].Requests, -1)
	m.LastPodEvent, p.node = w.now(), nil
}

// evict removes a pod from its node. It returns the waiting pod that its controller
// creates instead, which has another name; nil when there is none.
func (w *simulation) evict(p *pod) *pod {
	w.leave(p)
	p.gone = true
	if p.daemon {
		return nil
	}
	w.tally.evictions++
	if !p.until.IsZero() && !p.Job && !p.until.After(w.now()) {
		return nil
	}
	next := *p
	next.since, next.made, next.plan, next.gone = w.now(), w.now(), nil, false
	w.made++
	copied := *p.Pod
	copied.Name = fmt.Sprintf("%s-r%d", p.Name, w.made)
	next.Pod = &copied
	w.add(&next)
	return &next
}

func subtract(from, amount model.Resources, sign int64) {
	for name, n := range amount {
		from[name] -= sign * n
	}
}

// snapshot returns the snapshot for a decision. It first drops removed pods from
// w.pods.
func (w *simulation) snapshot(ctx context.Context) *model.Snapshot {
	now := w.now()
	w.pods = slices.DeleteFunc(w.pods, func(p *pod) bool { return p.gone })
	s := w.base
	s.Time, s.Seed = now, uint64(now.UnixNano())
	s.Catalogs = w.catalogs(ctx)
	s.Pools = slices.Clone(w.base.Pools)
	s.Nodes = make([]model.Node, 0, len(w.nodes))
	at := make(map[*machine]int32, len(w.nodes))
	total, leaving := make([]int, len(s.Pools)), make([]int, len(s.Pools))
	for i := range s.Pools {
		s.Pools[i].Usage = model.Resources{}
	}
	for _, m := range w.nodes {
		at[m] = int32(len(s.Nodes))
		n := m.Node
		n.Taints = slices.Clone(n.Taints)
		s.Nodes = append(s.Nodes, n)
		s.Pools[n.Pool].Usage.Add(m.typ.Capacity)
		s.Pools[n.Pool].Usage[model.NodeCount]++
		if n.State != model.InFlight {
			total[n.Pool]++
			if m.deleting {
				leaving[n.Pool]++
			}
		}
	}
	for i := range s.Pools {
		d := &s.Pools[i].Disruption
		d.AllowedEmpty, d.AllowedUnderutilized, d.AllowedDrifted = w.allow(i, now, total[i], leaving[i])
	}
	s.Pods = make([]model.Pod, 0, len(w.pods))
	for _, p := range w.pods {
		mp := model.Pod{
			UID: p.Name, Namespace: p.Namespace, Name: p.Name, Workload: p.Workload, Spec: p.Spec, Node: -1,
			Created: p.made, DoNotDisrupt: p.DoNotDisrupt, Daemon: p.daemon, Job: p.Job,
		}
		for _, m := range []*machine{p.node, p.plan} {
			if i, ok := at[m]; ok && mp.Node < 0 {
				mp.Node = i
				s.Nodes[i].Nominated = s.Nodes[i].Nominated || p.node == nil
			}
		}
		s.Pods = append(s.Pods, mp)
	}
	w.departed = slices.DeleteFunc(w.departed, func(d model.Departure) bool { return now.Sub(d.Time) >= time.Hour })
	s.Departed, s.Budgets = slices.Clone(w.departed), w.podBudgets()
	return &s
}
