package decide

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// Stage is the next step of a command.
type Stage string

// The stages. Start marks and taints the nodes and launches their replacements. Wait
// changes nothing. Finish deletes the nodes. Undo removes the mark and the taint.
const (
	Start  Stage = "Start"
	Wait   Stage = "Wait"
	Finish Stage = "Finish"
	Undo   Stage = "Undo"
)

// Command is a disruption of several nodes at once, or of nodes with replacements.
// Its state is recorded on the nodes' claims (model.Command). Each decision reads
// the state from there and sets the next stage.
type Command struct {
	// ID is empty until the command has started.
	ID     string `json:"id,omitempty"`
	Method Method `json:"method"`
	Stage  Stage  `json:"stage"`
	// Nodes index Snapshot.Nodes.
	Nodes []int32 `json:"nodes"`
	// Replacements are the nodes to launch in the Start stage.
	Replacements []model.PlannedNode `json:"replacements,omitempty"`
	// Savings is the hourly price of Nodes less that of the replacements.
	Savings model.Price `json:"savings"`
	// Removed is the effective cost of Nodes in USD/hour and Billed is their hourly
	// price. Both are set when the command starts: see model.Command.
	Removed float64     `json:"removed,omitempty"`
	Billed  model.Price `json:"billed,omitempty"`
	// Reason says why the stage is Wait or Undo.
	Reason string `json:"reason,omitempty"`
	// Invalid is set when the stage is Undo although the replacements are ready: a
	// condition for the command no longer holds.
	Invalid bool `json:"invalid,omitempty"`
}

// commandTimeout is how long after its start a command may still wait for a
// replacement. A replacement that cannot become ready is normally deleted earlier.
const commandTimeout = 30 * time.Minute

// retrySearch is the delay before a node without a replacement plan is searched
// again.
const retrySearch = time.Minute

// commandStep continues the commands under way.
type commandStep struct{ *disrupter }

// underWay groups the marked nodes by command, ordered by the commands' start times.
func (j *commandStep) underWay() []*Command {
	var out []*Command
	byID := map[string]*Command{}
	for i := range j.s.Nodes {
		n := &j.s.Nodes[i]
		if n.Command == nil || n.State == model.Deleting {
			continue
		}
		c := byID[n.Command.ID]
		if c == nil || n.Command.ID == "" {
			c = &Command{ID: n.Command.ID, Method: Method(n.Command.Method)}
			byID[n.Command.ID] = c
			out = append(out, c)
		}
		c.Nodes = append(c.Nodes, int32(i))
	}
	slices.SortStableFunc(out, func(a, b *Command) int {
		return cmp.Or(j.recordOf(a).Started.Compare(j.recordOf(b).Started), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// recordOf returns the record of the command from the claim of its first node.
func (j *disrupter) recordOf(c *Command) *model.Command { return j.s.Nodes[c.Nodes[0]].Command }

// continueCommands sets the next stage of every command under way. It returns the
// commands that remain under way; the search treats their nodes and pods as moving.
func (j *commandStep) continueCommands(ctx context.Context, commands []*Command) []*Command {
	var ready, on []*Command
	for _, c := range commands {
		j.step(c)
		switch c.Stage {
		case Finish:
			ready = append(ready, c)
		case Wait:
			for _, i := range c.Nodes {
				j.disrupting[j.s.Nodes[i].Pool]++
			}
			on = append(on, c)
		case Undo, Start:
		}
	}
	j.askPolicies(ctx, ready)
	if len(ready) > 0 {
		projection := disrupt.NewProjection(j.survey, j.input(ctx), j.out.Plan.Existing)
		for _, c := range ready {
			if c.Stage != Finish {
				continue
			}
			saves, _ := j.savesNow(c)
			p := projection.Fits(c.Method, c.Nodes, j.replacements(c), saves)
			if p == nil && c.Method == disrupt.Drifted && j.replaces(c) {
				on = append(on, c) // the pods get other nodes when they are evicted
				continue
			}
			if p == nil {
				c.Stage, c.Reason, c.Invalid = Undo, "the nodes' pods do not all find a place now", true
				continue
			}
			projection.Accept(c.Nodes, &p.Sim.Plan)
			on = append(on, c)
		}
	}
	for _, c := range commands {
		j.out.Commands = append(j.out.Commands, *c)
	}
	return on
}

// step sets the next stage of a command without asking the policies. A command that
// has all its replacements ready and is undone is marked Invalid.
func (j *commandStep) step(c *Command) {
	if c.Stage, c.Reason = j.progress(c); c.Stage != Finish {
		return
	}
	if c.Stage, c.Reason = j.recheck(c); c.Stage == Finish && !j.stillSaves(c) {
		c.Stage, c.Reason = Undo, "prices have changed: what was launched instead costs no less now"
	}
	c.Invalid = c.Stage == Undo
}

// progress derives the stage from the marks, the taints and the replacements'
// states.
func (j *commandStep) progress(c *Command) (Stage, string) {
	m := j.recordOf(c)
	if len(m.Nodes) == 0 {
		return Undo, "its mark cannot be read"
	}
	for _, i := range c.Nodes {
		if !tainted(&j.s.Nodes[i]) {
			return Undo, "node " + j.s.Nodes[i].Name + " does not bear the taint"
		}
	}
	for _, claim := range m.Replacements {
		at := slices.IndexFunc(j.s.Nodes, func(n model.Node) bool { return n.Claim == claim })
		switch {
		case at < 0 || j.s.Nodes[at].State == model.Deleting:
			return Undo, "replacement " + claim + " did not become a node"
		case j.s.Nodes[at].State == model.Initialized:
		case j.s.Time.Sub(m.Started) > commandTimeout:
			return Undo, "replacement " + claim + " was not ready in time"
		default:
			return Wait, "replacement " + claim + " is " + string(j.s.Nodes[at].State)
		}
	}
	return Finish, ""
}

// replacements returns the command's replacements that are there, as indexes of Snapshot.Nodes.
func (j *disrupter) replacements(c *Command) []int32 {
	var out []int32
	for _, claim := range j.recordOf(c).Replacements {
		if at := slices.IndexFunc(j.s.Nodes, func(n model.Node) bool { return n.Claim == claim }); at >= 0 {
			out = append(out, int32(at))
		}
	}
	return out
}

// replaces reports whether nodes were launched for the command.
func (j *disrupter) replaces(c *Command) bool { return len(j.recordOf(c).Replacements) > 0 }

// recheck validates a command that is about to delete its nodes. Without replacements it
// returns Undo when a node may no longer be disrupted or a pool's budget is used up.
// Once replacements are ready, neither matters, as in Karpenter: a busy service with a
// PodDisruptionBudget would otherwise pay for replacements again and again. The
// evictions wait for the budget instead.
func (j *commandStep) recheck(c *Command) (Stage, string) {
	if j.replaces(c) {
		for _, i := range c.Nodes {
			j.disrupting[j.s.Nodes[i].Pool]++
		}
		return Finish, ""
	}
	for _, i := range c.Nodes {
		if why := j.survey.Still(i, c.Method); why != nil {
			return Undo, fmt.Sprintf("node %s: %s", j.s.Nodes[i].Name, why.Reason)
		}
	}
	for _, i := range c.Nodes {
		pool := j.s.Nodes[i].Pool
		if j.budgetLeft(pool, c.Method) <= 0 {
			return Undo, j.overBudget(pool)
		}
		j.disrupting[pool]++
	}
	return Finish, ""
}

// stillSaves reports whether a consolidation still lowers the cluster's cost now that its
// replacements run.
func (j *commandStep) stillSaves(c *Command) bool {
	usd, known := j.savesNow(c)
	return !known || usd > 0
}

// savesNow returns what a consolidation saves now that its replacements run, in USD/hour, if that is
// known and matters. It compares the effective costs recorded at purchase, each
// corrected by the change of the billed price since. It does not ask the rank
// policies again: a commitment that a replacement uses now is not offered a second
// time, so today's answer is not comparable. A command whose first nodes are already
// gone always pays, since its replacements run and are needed either way.
func (j *commandStep) savesNow(c *Command) (usd float64, known bool) {
	m := j.recordOf(c)
	if c.Method != disrupt.Underutilized || m.Removed == 0 || len(m.Replacements) == 0 || j.deletionBegun(m) {
		return 0, false
	}
	saves := m.Removed + (j.billed(c.Nodes) - m.Billed).USD()
	for i := range j.s.Nodes {
		n := &j.s.Nodes[i]
		if !slices.Contains(m.Replacements, n.Claim) {
			continue
		}
		if n.Bought == nil {
			return 0, false
		}
		saves -= n.Bought.Effective + (n.Cost() - n.Bought.Price).USD()
	}
	return saves, true
}

// deletionBegun reports whether some of the command's nodes are deleted or being deleted.
// That happens when a controller stops between two deletions or EC2 reclaims an
// instance.
func (j *commandStep) deletionBegun(m *model.Command) bool {
	stay := 0
	for i := range j.s.Nodes {
		if n := &j.s.Nodes[i]; n.State != model.Deleting && slices.Contains(m.Nodes, n.Claim) {
			stay++
		}
	}
	return stay < len(m.Nodes)
}

// askPolicies asks the consolidate policies about the ready commands once more, right
// before their nodes are deleted. A command with a refused node is undone.
func (j *commandStep) askPolicies(ctx context.Context, ready []*Command) {
	question := policy.ConsolidateInput{Call: j.call(0)}
	var options []option
	var of []*Command
	for _, c := range ready {
		action := "delete"
		if len(j.recordOf(c).Replacements) > 0 {
			action = "replace"
		}
		saves := j.saves(c) / float64(len(c.Nodes))
		for _, i := range c.Nodes {
			o := option{node: i, method: c.Method, cost: j.survey.Cost(i)}
			options, of = append(options, o), append(of, c)
			question.Candidates = append(question.Candidates, j.candidate(o, action, saves))
		}
	}
	for k, v := range j.askConsolidatePolicies(ctx, &question, options) {
		if v.Verdict != policy.Allow {
			of[k].Stage, of[k].Reason, of[k].Invalid = Undo, "policy "+v.Policy+": "+v.Reason, true
			j.addRefused(options[k], &v)
		}
	}
}

// saves returns the command's savings at today's prices, in USD/hour, and records
// them in Savings. For a command that is partly done it does not deduct the
// replacements.
func (j *commandStep) saves(c *Command) float64 {
	sum, m := j.billed(c.Nodes), j.recordOf(c)
	begun := j.deletionBegun(m)
	for i := range j.s.Nodes {
		if !begun && slices.Contains(m.Replacements, j.s.Nodes[i].Claim) {
			sum -= j.s.Nodes[i].Cost()
		}
	}
	c.Savings = sum
	return sum.USD()
}

// billed returns the summed hourly price of the nodes.
func (j *disrupter) billed(nodes []int32) model.Price {
	var sum model.Price
	for _, i := range nodes {
		sum += j.s.Nodes[i].Cost()
	}
	return sum
}

func tainted(n *model.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Key == taintDisrupted })
}
