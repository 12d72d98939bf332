package backtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// again is after how long a tainted node is decided about a second time.
const again = time.Second

func disrupted() model.Taint {
	return model.Taint{Key: "karpenter.sh/disrupted", Effect: model.NoSchedule}
}

func tainted(m *machine) bool { return slices.Contains(m.Taints, disrupted()) }

// disrupt applies the disruptions of a decision: it taints or deletes a node, or takes
// one step of a command.
func (w *simulation) disrupt(ctx context.Context, s *model.Snapshot, d *decide.Decision, pods []*pod) {
	going := map[*machine]bool{}
	fresh := false
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		m := w.byID[s.Nodes[each.Node].Claim]
		if !each.RetryAt.IsZero() && each.RetryAt.Before(w.cfg.Workload.End) {
			w.decideDisruptionBy(later(each.RetryAt, w.now().Add(w.cfg.Look)))
		}
		switch {
		case !each.Go || m == nil || m.gone:
		case tainted(m):
			w.remove(ctx, m, string(each.Method))
		default:
			m.Taints = append(slices.Clone(m.Taints), disrupted())
			going[m], fresh = true, true
		}
	}
	for i := range d.Commands {
		w.command(ctx, s, &d.Commands[i], pods)
		fresh = true
	}
	for _, m := range w.nodes {
		if m.Command == nil && !m.deleting && !going[m] && tainted(m) {
			m.Taints = slices.DeleteFunc(slices.Clone(m.Taints), func(t model.Taint) bool { return t == disrupted() })
		}
	}
	if fresh {
		w.decideDisruptionBy(w.now().Add(again))
	}
}

func (w *simulation) command(ctx context.Context, s *model.Snapshot, c *decide.Command, pods []*pod) {
	switch c.Stage {
	case decide.Start:
		w.begin(ctx, s, c, pods)
	case decide.Finish:
		for _, i := range c.Nodes {
			if m := w.byID[s.Nodes[i].Claim]; m != nil && !m.gone {
				w.remove(ctx, m, string(c.Method))
			}
		}
	case decide.Undo:
		for _, i := range c.Nodes {
			if m := w.byID[s.Nodes[i].Claim]; m != nil {
				m.Command, m.UndoneAt = nil, s.Time
			}
		}
	case decide.Wait:
		w.decideDisruptionBy(w.now().Add(w.cfg.Boot / 4))
	}
}

// begin launches the replacements of a command and marks its nodes. When one of the
// replacements is out of stock, no node is marked; the other replacements are later
// removed as empty nodes.
func (w *simulation) begin(ctx context.Context, s *model.Snapshot, c *decide.Command, pods []*pod) {
	w.made++
	mark := &model.Command{ID: fmt.Sprintf("c%d", w.made), Method: string(c.Method), Started: s.Time, Removed: c.Removed, Billed: c.Billed}
	for _, i := range c.Nodes {
		mark.Nodes = append(mark.Nodes, s.Nodes[i].Claim)
	}
	for k := range c.Replacements {
		name := w.launch(ctx, &c.Replacements[k], mark.Nodes, pods)
		if name == "" {
			return
		}
		w.byID[name].ForMoved = s.ForMoved(c.Nodes)
		mark.Replacements = append(mark.Replacements, name)
	}
	for _, claim := range mark.Nodes {
		if m := w.byID[claim]; m != nil {
			m.Command, m.Taints = mark, append(slices.Clone(m.Taints), disrupted())
		}
	}
}

// remove drains a node and then ends its instance.
func (w *simulation) remove(ctx context.Context, m *machine, method string) {
	if m.deleting {
		return
	}
	m.deleting, m.State = true, model.Deleting
	count := 0
	for _, p := range m.pods {
		if !p.daemon {
			count++
		}
	}
	w.departed = append(w.departed, model.Departure{Claim: m.Claim, Pool: w.base.Pools[m.Pool].Name, Time: w.now(), Pods: count})
	w.tally.disrupted(method)
	w.drain(ctx, m, time.Time{}, func([]*pod) {})
}

// stop ends the machine's instance.
func (w *simulation) stop(ctx context.Context, m *machine) {
	m.gone, m.deleting, m.State = true, true, model.Deleting
	// NotFound is fine, and no other error can occur with a simulated machine.
	_ = w.cloud.Terminate(ctx, m.id)
	w.nodes = slices.DeleteFunc(w.nodes, func(x *machine) bool { return x == m })
	delete(w.byID, m.Claim)
	for _, p := range w.pods {
		if p.plan == m && !p.gone {
			p.plan = nil
			w.decideBy(w.now().Add(w.cfg.Batch))
		}
	}
	w.changed = true
	w.decideDisruptionBy(w.now().Add(w.cfg.Look))
}
