package policy

import "spokeshave.dev/sdk/abi"

// Candidate is a node that could be disrupted: see abi.CandidateRow for the
// fields. Its texts come from Candidates.
type Candidate = abi.CandidateRow

// Candidates are the nodes in question.
type Candidates struct{ s *session }

// Call is the decision's time and seed.
func (c Candidates) Call() Call { return Call(c) }

// Len is the number of candidates.
func (c Candidates) Len() int { return int(c.s.batch.Rows.Count) }

// At is candidate i. It must not be changed.
func (c Candidates) At(i int) *Candidate { return (*Candidate)(c.s.row(&c.s.batch.Rows, i)) }

// Text is the text of a string id, such as Candidate.Zone.
func (c Candidates) Text(id uint32) string { return c.s.text(id) }

// Node is the name of candidate i's node.
func (c Candidates) Node(i int) string { return c.s.text(c.At(i).Node) }

// NodePool is the name of candidate i's NodePool.
func (c Candidates) NodePool(i int) string { return c.s.text(c.At(i).Pool) }

// Labels are the labels of candidate i's node.
func (c Candidates) Labels(i int) Labels {
	row := c.At(i)
	return Labels{c.s, row.LabelsFirst, row.LabelsCount}
}

// PoolLabels are the labels of candidate i's NodePool.
func (c Candidates) PoolLabels(i int) Labels {
	row := c.At(i)
	return Labels{c.s, row.PoolLabelsFirst, row.PoolLabelsCount}
}

// Permissions are the answers, a row for each candidate; it starts as denied.
type Permissions struct{ s *session }

func (p Permissions) at(i int) *abi.ConsolidateOut {
	return (*abi.ConsolidateOut)(p.s.row(&p.s.batch.Out, i))
}

// Allow lets candidate i be disrupted.
func (p Permissions) Allow(i int) { p.at(i).Verdict = abi.VerdictAllow }

// Deny protects candidate i.
func (p Permissions) Deny(i int, reason string) {
	out := p.at(i)
	out.Verdict, out.Reason = abi.VerdictDeny, p.s.reason(reason)
}

// Hold protects candidate i for some seconds from the decision's time.
func (p Permissions) Hold(i int, seconds float64, reason string) {
	out := p.at(i)
	out.Verdict, out.HoldSeconds, out.Reason = abi.VerdictHold, seconds, p.s.reason(reason)
}

// Cost adds to the disruption cost of candidate i: finite, at least 0.
func (p Permissions) Cost(i int, cost float64) { p.at(i).Cost = cost }
