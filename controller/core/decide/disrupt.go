package decide

import (
	"context"
	"maps"
	"slices"
	"time"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// Method is the kind of a voluntary disruption.
type Method = disrupt.Method

// MethodEmpty removes a node that runs nothing but DaemonSet pods,
// MethodUnderutilized one whose pods can run for less elsewhere.
const (
	MethodEmpty         = disrupt.Empty
	MethodUnderutilized = disrupt.Underutilized
)

// Disruption is the verdict on one node.
type Disruption struct {
	// Node indexes Snapshot.Nodes.
	Node   int32  `json:"node"`
	Method Method `json:"method"`
	// Go says that the node may be deleted now.
	Go bool `json:"go"`
	// Policy and Reason say why the node is kept when Go is false.
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
	// RetryAt is when the verdict may change; zero when that is not known.
	RetryAt time.Time `json:"retryAt,omitzero"`
	// Kind classifies the reason for metrics and events. It follows from the other
	// fields and is not recorded.
	Kind disrupt.Kind `json:"-"`
}

// disrupter is the state that the steps of one disruption decision share.
type disrupter struct {
	*decider

	survey *disrupt.Survey
	// disrupting counts by pool the nodes that are being disrupted.
	disrupting []int
}

// option is a node with the method by which it may go.
type option struct {
	node   int32
	method Method
	cost   float64
}

// disrupt first continues the commands under way. It then decides about every other
// node: by its annotations and pool settings, then by the policies, then by the
// budgets, and last by the savings that the search finds.
func (d *decider) disrupt(ctx context.Context) {
	var expecting []int32
	for i := range d.out.Plan.Existing {
		expecting = append(expecting, d.out.Plan.Existing[i].Node)
	}
	j := &disrupter{decider: d, survey: disrupt.NewSurvey(d.s, expecting), disrupting: make([]int, len(d.s.Pools))}
	running, search := &commandStep{j}, &searchStep{j}
	commands := running.underWay()
	options, known := j.options(expecting)
	if len(commands)+len(options) == 0 {
		return
	}
	verdicts := j.allowed(ctx, options)
	stayed := running.continueCommands(ctx, commands)
	search.recheckAfterUndo(commands)
	options = j.markEmpty(options, verdicts)
	switch {
	case !d.opts.Search || len(options)+known == 0:
	case d.capped() && slices.ContainsFunc(commands, func(c *Command) bool { return c.Stage == Undo }):
		// An undone command keeps both its nodes and their replacements. Both count
		// against the caps from now on; the next decision sees what is left.
	case len(d.out.Plan.Nodes) == 0:
		search.run(ctx, options, stayed)
	case d.short != nil:
		j.freeHeadroom(ctx, options, stayed)
	default:
		// The launches for pending pods come first: the search might plan the same
		// capacity again.
		j.out.Postponed = true
	}
}

// options returns the nodes that only policies and budgets can still keep. known
// counts the nodes of commands under way.
func (j *disrupter) options(planned []int32) (out []option, known int) {
	for i := range j.s.Nodes {
		if j.s.Nodes[i].Command != nil {
			known++
			continue
		}
		m, block, ok := j.survey.Candidate(int32(i))
		switch {
		case !ok && slices.Contains(planned, int32(i)) && len(j.survey.Moving(int32(i))) == 0:
			j.addKept(option{node: int32(i), method: disrupt.Empty}, Disruption{Reason: "pods that need a place are planned here"})
		case !ok && j.s.Nodes[i].Claim != "":
			j.explainKept(option{node: int32(i)}, disrupt.Waiting, j.survey.Excused(int32(i)))
		case !ok:
		case block == nil:
			if j.out.Eligible == nil {
				j.out.Eligible = map[Method]int{}
			}
			j.out.Eligible[m]++
			out = append(out, option{node: int32(i), method: m, cost: j.survey.Cost(int32(i))})
		case m == disrupt.Underutilized && !j.freesWantedMoney(int32(i)): // reported only on request: no pod waits for the node to become eligible
			j.explainKept(option{node: int32(i), method: m}, block.Kind, until(block))
		default:
			why := block.Reason
			if block.Kind == disrupt.Blocked { // the end of the wait changes with every pod, so it goes into the text
				why = until(block)
			}
			j.addKept(option{node: int32(i), method: m}, Disruption{Reason: why, RetryAt: block.Until, Kind: block.Kind})
		}
	}
	return out, known
}

// freesWantedMoney reports whether pods wait for money that the node's pool spends.
func (j *disrupter) freesWantedMoney(node int32) bool {
	return j.short != nil && j.short[j.s.Nodes[node].Pool]
}

// allowed asks the policies about all options in one batch, with the node's full
// price as savings, which is the upper bound. It returns by option whether the
// policies allow it, and sets the cost of the allowed ones.
func (j *disrupter) allowed(ctx context.Context, options []option) []bool {
	question := policy.ConsolidateInput{Call: j.call(0)}
	for _, o := range options {
		question.Candidates = append(question.Candidates, j.candidate(o, "delete", j.s.Nodes[o.node].Cost().USD()))
	}
	verdicts := j.askConsolidatePolicies(ctx, &question, options)
	out := make([]bool, len(options))
	for i := range options {
		v := &verdicts[i]
		out[i] = v.Verdict == policy.Allow
		if !out[i] {
			j.addRefused(options[i], v)
			continue
		}
		options[i].cost = v.Cost
	}
	return out
}

// askConsolidatePolicies asks the consolidate policies. options[i] is the node of
// the question's candidate i. The result has one outcome per option.
func (j *disrupter) askConsolidatePolicies(ctx context.Context, question *policy.ConsolidateInput, options []option) []policy.ConsolidateOutcome {
	if len(options) == 0 {
		return nil
	}
	return j.panel.Consolidate(ctx, question, func(m *policy.Match, i int) bool {
		return m.Pool(&j.s.Pools[j.s.Nodes[options[i].node].Pool])
	})
}

func (j *disrupter) addRefused(o option, v *policy.ConsolidateOutcome) {
	var retry time.Time
	if v.Verdict == policy.Hold {
		retry = j.s.Time.Add(time.Duration(v.HoldSeconds * float64(time.Second)))
	}
	j.addKept(o, Disruption{Policy: v.Policy, Reason: v.Reason, RetryAt: retry, Kind: disrupt.Blocked})
}

// budgetLeft returns how many more nodes of a pool the budgets allow to be disrupted by
// the method.
func (j *disrupter) budgetLeft(pool int32, m Method) int {
	return disrupt.Allowed(&j.s.Pools[pool].Disruption, m) - j.disrupting[pool]
}

// spendBudget counts a node against its pool's budgets. It returns false, and records the
// verdict, when the budgets allow no more nodes.
func (j *disrupter) spendBudget(o option) bool {
	pool := j.s.Nodes[o.node].Pool
	if j.budgetLeft(pool, o.method) <= 0 {
		j.addKept(o, Disruption{Reason: j.overBudget(pool), Kind: disrupt.OverBudget})
		return false
	}
	j.disrupting[pool]++
	return true
}

func (j *disrupter) overBudget(pool int32) string {
	return "the disruption budgets of NodePool " + j.s.Pools[pool].Name + " allow no more"
}

// markEmpty marks the empty nodes for deletion as far as the budgets allow, those that
// already bear the taint first. It returns the other options that the policies
// allow.
func (j *disrupter) markEmpty(options []option, may []bool) []option {
	var rest []option
	for _, second := range []bool{true, false} {
		for i, o := range options {
			switch {
			case !may[i] || o.method != disrupt.Empty || tainted(&j.s.Nodes[o.node]) != second:
			case j.spendBudget(o):
				j.out.Disruptions = append(j.out.Disruptions, Disruption{Node: o.node, Method: MethodEmpty, Go: true})
			}
		}
	}
	for i, o := range options {
		if may[i] && o.method != disrupt.Empty {
			rest = append(rest, o)
		}
	}
	return rest
}

// addKept adds a verdict for a node that stays.
func (j *disrupter) addKept(o option, why Disruption) {
	why.Node, why.Method = o.node, o.method
	j.out.Disruptions = append(j.out.Disruptions, why)
}

func (j *disrupter) candidate(o option, action string, saves float64) policy.Candidate {
	n := &j.s.Nodes[o.node]
	p := &j.s.Pools[n.Pool]
	age := 0.0
	if !n.LaunchedAt.IsZero() {
		age = max(0, j.s.Time.Sub(n.LaunchedAt).Seconds())
	}
	past := j.recentDepartures(p.Name)
	return policy.Candidate{
		JobPods: j.survey.Jobs(o.node), SinceDisruption: past.secondsSince, PoolEvictions: past.podsOfPool, ClusterEvictions: past.podsOfCluster,
		Node: n.Name, Claim: n.Claim, NodePool: p.Name, PoolTags: p.Labels, Labels: maps.Clone(n.Labels),
		Method: string(o.method), Action: action,
		InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: string(n.CapacityType),
		Price: n.Price.USD(), Savings: saves, Pods: len(j.survey.Moving(o.node)),
		AgeSeconds: age, IdleSeconds: j.survey.Idle(o.node).Seconds(),
		CPUUtilisation: j.survey.Used(o.node, model.CPU), MemoryUtilisation: j.survey.Used(o.node, model.Memory),
		Cost: o.cost, MoveCost: j.survey.MoveCost(o.node),
	}
}

// explainKept adds a verdict for a node that stays when Options.Explain is set.
func (j *disrupter) explainKept(o option, kind disrupt.Kind, reason string) {
	if j.opts.Explain {
		j.addKept(o, Disruption{Reason: reason, Kind: kind})
	}
}

func until(b *disrupt.Block) string {
	if b.Until.IsZero() {
		return b.Reason
	}
	return b.Reason + ", at " + b.Until.UTC().Format(time.RFC3339) + " it may be looked at"
}

// explainSearch adds a verdict for each node that the search left alone, when
// Options.Explain is set. whole is false when the search did not examine every node
// to the end; the verdict's kind is then Waiting.
func (j *disrupter) explainSearch(options []option, found func(int32) disrupt.Finding, whole bool) { //nolint:revive // a fact about the search
	if !j.opts.Explain {
		return
	}
	said := map[int32]bool{}
	for i := range j.out.Commands {
		for _, n := range j.out.Commands[i].Nodes {
			said[n] = true
		}
	}
	for i := range j.out.Disruptions {
		said[j.out.Disruptions[i].Node] = true
	}
	for _, o := range options {
		if o.method != disrupt.Underutilized || said[o.node] {
			continue
		}
		f := found(o.node)
		if !whole {
			f.Kind = disrupt.Waiting
		}
		j.addKept(o, Disruption{Reason: f.Reason, Kind: f.Kind})
	}
}
