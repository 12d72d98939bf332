package backtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// decideBy schedules a decision at when, unless one is scheduled earlier.
func (w *simulation) decideBy(when time.Time) {
	if !w.decisionDue.IsZero() && !when.Before(w.decisionDue) {
		return
	}
	w.decisionDue = when
	w.at(when, func(ctx context.Context) error {
		if !w.decisionDue.Equal(when) {
			return nil // an earlier decision has replaced this one
		}
		w.decisionDue = time.Time{}
		return w.decide(ctx, decide.Options{})
	})
}

// decideDisruptionBy schedules a decision about the disruption of nodes at when, unless one
// is scheduled earlier.
func (w *simulation) decideDisruptionBy(when time.Time) {
	if !w.disruptionDue.IsZero() && !when.Before(w.disruptionDue) {
		return
	}
	w.disruptionDue = when
	w.at(when, func(ctx context.Context) error {
		if !w.disruptionDue.Equal(when) {
			return nil
		}
		w.disruptionDue = time.Time{}
		opts := decide.Options{Disrupt: true}
		if now := w.now(); w.changed && now.Sub(w.searched) >= w.cfg.Search {
			opts.Search, w.searched, w.changed = true, now, false
		}
		return w.decide(ctx, opts)
	})
}

// decide makes a decision and applies it.
func (w *simulation) decide(ctx context.Context, opts decide.Options) error {
	s := w.snapshot(ctx)
	if w.capped {
		w.ledger = w.ledger.Advance(s)
		s.Spent = w.ledger.Scopes()
	}
	opts.LastCaps = w.caps
	d, err := decide.Decide(ctx, s, w.cfg.Policies, opts)
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	if d.Caps != nil {
		w.caps = d.Caps
	}
	w.tally.decisions++
	if short := d.Short(); len(short) > 0 && !slices.Equal(short, w.short) {
		w.searched, w.changed = time.Time{}, true // search at once for savings that would let pods waiting for money be placed
		w.decideDisruptionBy(w.now().Add(again))
	}
	w.short = d.Short()
	pods := slices.Clone(w.pods) // launches may add to them
	moved := s.PodsMove()
	for i := range d.Plan.Nodes {
		if m := w.byID[w.launch(ctx, &d.Plan.Nodes[i], nil, pods)]; m != nil {
			m.ForMoved = moved
		}
	}
	for i := range d.Plan.Existing {
		w.assign(&d.Plan.Existing[i], s, pods)
	}
	for i := range d.Plan.Unplaced {
		w.refuse(&d.Plan.Unplaced[i], pods)
	}
	if len(d.Plan.Unplaced) > 0 {
		w.decideBy(w.now().Add(w.cfg.Look))
	}
	if opts.Disrupt {
		w.disrupt(ctx, s, &d, pods)
	}
	return nil
}

func (w *simulation) assign(a *model.Assignment, s *model.Snapshot, pods []*pod) {
	m := w.byID[s.Nodes[a.Node].Claim]
	for _, i := range a.Pods {
		p := pods[i]
		switch {
		case p.gone || m == nil || m.gone || p.node != nil:
		case m.State == model.Initialized && !m.deleting:
			w.bind(p, m)
		default:
			p.plan = m
		}
	}
}

// refuse counts a pod that has to wait for money, once per wait.
func (w *simulation) refuse(u *model.Unplaced, pods []*pod) {
	p := pods[u.Pod]
	for _, r := range u.Reasons {
		if (r.Code == model.CeilingReached || r.Code == model.LaunchDenied) && !p.held {
			p.held = true
			w.tally.ceilingHits++
		}
	}
}

// launch starts a machine for a planned node and returns its name, "" when no option is
// in stock.
func (w *simulation) launch(ctx context.Context, n *model.PlannedNode, replaces []string, pods []*pod) string {
	pool := &w.base.Pools[n.Pool]
	options := n.Options
	for ordinal := 0; len(options) > 0; ordinal++ {
		w.made++
		name := fmt.Sprintf("%s-%05d", pool.Name, w.made)
		attempt, err := w.cloud.Prepare(ctx, provider.LaunchSpec{Claim: name, NodePool: pool.Name, NodeClass: pool.NodeClass, Ordinal: ordinal, Options: options})
		if err != nil {
			break
		}
		in, err := w.cloud.Launch(ctx, attempt)
		if err == nil {
			m := w.machine(name, n, &in)
			m.Replaces, m.Bought = replaces, model.BoughtAs(n.Options, in.InstanceType, in.Zone, in.CapacityType)
			for _, i := range n.Pods {
				if p := pods[i]; replaces == nil && !p.gone && p.node == nil {
					p.plan = m
					m.Nominated = true
				}
			}
			return name
		}
		w.tally.shortages++
		// The next capacity type of the plan is tried, as in the controller.
		kind := options[0].CapacityType
		options = slices.DeleteFunc(slices.Clone(options), func(o model.Option) bool { return o.CapacityType == kind })
	}
	w.decideBy(w.now().Add(w.cfg.Batch))
	return ""
}

// machine returns the starting node of an instance.
func (w *simulation) machine(name string, n *model.PlannedNode, in *provider.Instance) *machine {
	pool := &w.base.Pools[n.Pool]
	typ := &w.base.Catalogs[pool.Catalog].Types[w.types[pool.NodeClass+"/"+in.InstanceType]]
	m := &machine{id: in.ProviderID, typ: typ, free: typ.Allocatable.Clone(), Node: model.Node{
		Name: name, Claim: name, Pool: n.Pool, State: model.InFlight, InstanceType: in.InstanceType, Zone: in.Zone, CapacityType: in.CapacityType,
		Allocatable: typ.Allocatable, LaunchedAt: w.now(), Labels: labels(pool, typ, in, name), Taints: slices.Clone(pool.Taints),
		Extra: w.base.Catalogs[pool.Catalog].NodeCost,
	}}
	maps.Copy(m.Labels, n.Labels)
	m.Price = w.price(m)
	w.nodes, w.byID[name] = append(w.nodes, m), m
	w.tally.launches++
	w.changed = true
	w.at(w.now().Add(w.cfg.Boot), func(context.Context) error { w.ready(m); return nil })
	if m.CapacityType == model.Spot {
		if d := w.lifetime(m, w.interrupts); d > 0 {
			w.at(w.now().Add(d), func(ctx context.Context) error { w.interrupt(ctx, m); return nil })
		}
	}
	return m
}

func labels(pool *model.Pool, typ *model.InstanceType, in *provider.Instance, name string) map[string]string {
	out := maps.Clone(typ.Labels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, pool.NodeLabels)
	out["topology.kubernetes.io/zone"], out["karpenter.sh/capacity-type"] = in.Zone, string(in.CapacityType)
	out["node.kubernetes.io/instance-type"], out["karpenter.sh/nodepool"], out["kubernetes.io/hostname"] = in.InstanceType, pool.Name, name
	for i := range typ.Offerings {
		if o := &typ.Offerings[i]; o.Zone == in.Zone && o.ZoneID != "" {
			out["topology.k8s.aws/zone-id"] = o.ZoneID
		}
	}
	return out
}

// ready marks a machine as ready for pods. Those of its DaemonSets are bound first,
// then those that were planned for it.
func (w *simulation) ready(m *machine) {
	if m.gone || m.deleting {
		return
	}
	m.State, m.InitializedAt, m.Nominated = model.Initialized, w.now(), false
	for i := range w.base.Daemons {
		if d := &w.base.Daemons[i]; fits(m.free, d.Spec.Requests) && m.Admits(&d.Spec) {
			p := &pod{Pod: &Pod{Namespace: d.Namespace, Name: d.Name + "-" + m.Name, Workload: "DaemonSet/" + d.Name, Spec: w.daemonSpec(i)}, daemon: true, since: w.now(), made: w.now()}
			w.pods = append(w.pods, p)
			w.bind(p, m)
		}
	}
	for _, p := range w.pods {
		if p.plan == m && p.node == nil && !p.gone {
			if fits(m.free, w.base.Specs[p.Spec].Requests) {
				w.bind(p, m)
			} else {
				p.plan = nil
				w.decideBy(w.now().Add(w.cfg.Batch))
			}
		}
	}
	w.decideDisruptionBy(w.now().Add(w.cfg.Look))
}

// daemonSpec returns the index of DaemonSet i's spec in the list of specs.
func (w *simulation) daemonSpec(i int) int32 {
	return int32(len(w.base.Specs) - len(w.base.Daemons) + i)
}

// interrupt gives the notice of a spot interruption: the node is drained, and its
// instance ends two minutes later, drained or not.
func (w *simulation) interrupt(ctx context.Context, m *machine) {
	if m.gone {
		return
	}
	w.tally.interruptions++
	end := w.now().Add(notice)
	survives := func(moved []*pod) {
		w.at(later(end, w.now()), func(context.Context) error {
			if !slices.ContainsFunc(moved, func(p *pod) bool { return p.node == nil && !p.gone }) {
				w.tally.survived++
			}
			return nil
		})
	}
	if m.deleting { // it is being drained already, and EC2 does not wait for that
		w.at(end, func(ctx context.Context) error { w.drain(ctx, m, end, survives); return nil })
		return
	}
	m.deleting, m.State = true, model.Deleting
	w.drain(ctx, m, end, survives)
}
