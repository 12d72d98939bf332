package decide

import (
	"cmp"
	"context"
	"slices"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
)

// driftsAtOnce is how many drifted nodes one decision replaces at most.
const driftsAtOnce = 8

// searchStep looks for nodes to remove or to replace, and starts commands.
type searchStep struct{ *disrupter }

// run replaces drifted nodes and then looks for a cheaper cluster. on are the
// commands under way; the capacity that their pods need is taken.
func (j *searchStep) run(ctx context.Context, options []option, on []*Command) {
	j.input(ctx)
	projection := j.projection(ctx, on)
	j.drifted(ctx, projection, options)
	effort := j.opts.SearchEffort
	if effort == (disrupt.Effort{}) {
		effort = disrupt.DefaultEffort()
	}
	j.underutilized(ctx, projection, options, effort)
}

// projection returns the cluster as it will be once the commands in on are finished and
// the nodes marked for deletion in this decision are gone.
func (j *searchStep) projection(ctx context.Context, on []*Command) *disrupt.Projection {
	projection := disrupt.NewProjection(j.survey, j.in, j.out.Plan.Existing)
	if slices.ContainsFunc(j.in.Costs, func(c solver.Costs) bool { return c != nil }) {
		projection.Recost = (&recostStep{rankStep: rankStep{j.decider}, ctx: ctx}).costs
	}
	for _, c := range on {
		hosts := j.replacements(c)
		for _, i := range hosts {
			projection.Host(i)
		}
		projection.Accept(c.Nodes, projection.Onto(c.Nodes, hosts))
	}
	for i := range j.out.Disruptions {
		if each := &j.out.Disruptions[i]; each.Go {
			projection.Accept([]int32{each.Node}, &model.Plan{})
		}
	}
	return projection
}

// drifted starts replacing the drifted nodes, the oldest first.
func (j *searchStep) drifted(ctx context.Context, projection *disrupt.Projection, options []option) {
	var old []option
	for _, o := range options {
		if o.method == disrupt.Drifted {
			old = append(old, o)
		}
	}
	slices.SortStableFunc(old, func(a, b option) int {
		return cmp.Or(j.s.Nodes[a.node].LaunchedAt.Compare(j.s.Nodes[b.node].LaunchedAt), cmp.Compare(a.node, b.node))
	})
	started := 0
	for _, o := range old {
		if started == driftsAtOnce {
			break
		}
		if !projection.Settled(o.node) {
			j.explainKept(o, disrupt.Waiting, "pods of other nodes that go are to move to it first")
			continue
		}
		if !j.spendBudget(o) {
			continue
		}
		p := projection.Replace(disrupt.Drifted, []int32{o.node})
		if p == nil {
			j.disrupting[j.s.Nodes[o.node].Pool]--
			j.addKept(o, Disruption{Reason: "its pods would not all find another place", RetryAt: j.s.Time.Add(retrySearch), Kind: disrupt.Blocked})
			continue
		}
		if refused := j.start(ctx, projection, p); len(refused) == 0 {
			started++
		} else {
			j.disrupting[j.s.Nodes[o.node].Pool]--
		}
	}
}

// underutilized starts the consolidations with the highest savings. Nodes whose
// pools spend money that pods wait for come first.
func (j *searchStep) underutilized(ctx context.Context, projection *disrupt.Projection, options []option, effort disrupt.Effort) {
	left := make([]int, len(j.s.Pools))
	for i := range left {
		left[i] = j.budgetLeft(int32(i), disrupt.Underutilized)
	}
	var open []disrupt.Option
	for _, o := range options {
		switch {
		case o.method != disrupt.Underutilized:
		case !projection.Settled(o.node):
			j.explainKept(o, disrupt.Waiting, "pods of other nodes that go are to move to it first")
		case left[j.s.Nodes[o.node].Pool] <= 0:
			j.explainKept(o, disrupt.OverBudget, j.overBudget(j.s.Nodes[o.node].Pool))
		default:
			open = append(open, disrupt.Option{Node: o.node, Cost: o.cost, Wanted: j.freesWantedMoney(o.node)})
		}
	}
	if len(open) == 0 {
		return
	}
	begun := projection.Search(open, left, effort, func(p *disrupt.Proposal) []int32 {
		return j.start(ctx, projection, p)
	})
	j.explainSearch(options, projection.Found, begun == 0 && effort.Replaces > 0)
}

// start tries a proposal and, while the checker rejects the plan, its next
// alternative. It returns the nodes that may not be disrupted.
func (j *searchStep) start(ctx context.Context, projection *disrupt.Projection, p *disrupt.Proposal) (refused []int32) {
	for ; p != nil; p = p.Instead {
		wrong := false
		if refused, wrong = j.try(ctx, projection, p); !wrong {
			return refused
		}
	}
	return refused
}

// try asks the policies about a proposal with its real savings and launches, and
// turns it into a command if they allow it. refused are the nodes that may not be
// disrupted. wrong means that the checker rejected a widened plan, so that an
// alternative of the proposal may still succeed.
func (j *searchStep) try(ctx context.Context, projection *disrupt.Projection, p *disrupt.Proposal) (refused []int32, wrong bool) {
	if refused := j.refusedByPolicies(ctx, p); len(refused) > 0 {
		return refused, false
	}
	if !j.launchable(ctx, p) {
		return p.Nodes, false
	}
	switch bad := j.violations(&p.Sim.Input, &p.Sim.Plan, p.Sim.Input.Pods); {
	case len(bad) > 0 && p.Sim.Widened:
		return p.Nodes, true // the plan merges two plans, which topology constraints may not allow
	case len(bad) > 0:
		j.keepUnproven(p, bad)
		return p.Nodes, false
	}
	projection.Accept(p.Nodes, &p.Sim.Plan)
	j.out.Commands = append(j.out.Commands, Command{
		Method: p.Method, Stage: Start, Nodes: p.Nodes, Replacements: p.Sim.Plan.Nodes, Savings: p.Savings,
		Removed: p.Removed, Billed: j.billed(p.Nodes),
	})
	return nil, false
}

// keepUnproven keeps the nodes of a proposal whose plan failed its proof.
func (j *searchStep) keepUnproven(p *disrupt.Proposal, wrong []check.Violation) {
	j.fail(Failure{Kind: Unproven, Part: Disrupting, Message: "disrupt " + j.s.Nodes[p.Nodes[0]].Name + ": " + summary(wrong)})
	for _, i := range p.Nodes {
		j.addKept(option{node: i, method: p.Method}, Disruption{
			Reason: "the plan for its pods failed its proof, which is a defect in Spokeshave", RetryAt: j.s.Time.Add(retrySearch), Kind: disrupt.Blocked,
		})
	}
}

// refusedByPolicies asks the consolidate policies about every node of a proposal and
// returns those that they do not allow.
func (j *searchStep) refusedByPolicies(ctx context.Context, p *disrupt.Proposal) []int32 {
	action := "delete"
	if len(p.Sim.Plan.Nodes) > 0 {
		action = "replace"
	}
	question := policy.ConsolidateInput{Call: j.call(0)}
	var options []option
	for _, i := range p.Nodes {
		o := option{node: i, method: p.Method, cost: j.survey.Cost(i)}
		options = append(options, o)
		question.Candidates = append(question.Candidates, j.candidate(o, action, p.Savings.USD()/float64(len(p.Nodes))))
	}
	var refused []int32
	for i, v := range j.askConsolidatePolicies(ctx, &question, options) {
		if v.Verdict != policy.Allow {
			refused = append(refused, options[i].node)
			j.addRefused(options[i], &v)
		}
	}
	return refused
}

// launchable asks the ceiling policies about the replacements and checks them
// against the namespaces' caps. It returns false when a replacement loses all its
// options or a cap is exceeded; the proposal is then dropped and its nodes are kept.
func (j *searchStep) launchable(ctx context.Context, p *disrupt.Proposal) bool {
	name, reason := "", ""
	if (&reviewStep{j.decider}).reviewed(&p.Sim.Plan) {
		denied, failed := (&reviewStep{j.decider}).ask(ctx, &p.Sim.Plan)
		switch {
		case failed != nil:
			name, reason = failed.Policy, failed.Reason
		case len((&reviewStep{j.decider}).dropDenied(&p.Sim.Plan, denied)) > 0:
			reason = "every offering for its replacement was refused"
		}
	}
	if reason == "" {
		var ok bool
		if ok, name, reason = j.affordable(p); ok {
			return true
		}
	}
	for _, i := range p.Nodes {
		j.addKept(option{node: i, method: p.Method}, Disruption{Policy: name, Reason: reason, RetryAt: j.s.Time.Add(retrySearch), Kind: disrupt.Blocked})
	}
	return false
}
