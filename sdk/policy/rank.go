package policy

import "spokeshave.dev/sdk/abi"

// Offering is an instance type in a zone at a capacity type: see abi.RankRow
// for the fields. Its texts come from Rows.
type Offering = abi.RankRow

// Pool is the NodePool in question.
type Pool struct {
	Call
	row *abi.PoolRow
}

func (p *Pool) read(s *session) {
	p.Call = Call{s}
	p.row = (*abi.PoolRow)(s.row(&s.batch.Pool, 0))
}

// Name is the NodePool's name.
func (p *Pool) Name() string { return p.s.text(p.row.Name) }

// Labels are the NodePool's own labels.
func (p *Pool) Labels() Labels { return Labels{p.s, p.row.LabelsFirst, p.row.LabelsCount} }

// PendingPods counts the pods that wait for a node of the pool; PendingCPU is
// their sum in vCPU, PendingMemoryGiB in GiB.
func (p *Pool) PendingPods() int { return int(p.row.PendingPods) }

// PendingCPU is what the waiting pods ask for, in vCPU.
func (p *Pool) PendingCPU() float64 { return p.row.PendingCPU }

// PendingMemoryGiB is what the waiting pods ask for, in GiB.
func (p *Pool) PendingMemoryGiB() float64 { return p.row.PendingMemoryGiB }

// RunningNodes counts the pool's nodes, those on their way included.
func (p *Pool) RunningNodes() int { return int(p.row.RunningNodes) }

// SpotNodes counts those of RunningNodes that are spot instances.
func (p *Pool) SpotNodes() int { return int(p.row.SpotNodes) }

// ClusterOnDemand is what the on-demand nodes of all NodePools cost at their
// on-demand price, in USD/hour.
func (p *Pool) ClusterOnDemand() float64 { return p.row.ClusterOnDemand }

// Rows are the offerings to price.
type Rows struct{ s *session }

// Len is the number of offerings.
func (r Rows) Len() int { return int(r.s.batch.Rows.Count) }

// At is offering i. It must not be changed.
func (r Rows) At(i int) *Offering { return (*Offering)(r.s.row(&r.s.batch.Rows, i)) }

// Text is the text of a string id, such as Offering.Family. The ids of types,
// families and zones stay the same from batch to batch as long as Generation
// does.
func (r Rows) Text(id uint32) string { return r.s.text(id) }

// Generation identifies the catalogue.
func (r Rows) Generation() uint64 { return r.s.batch.Generation }

// InstanceType is the instance type of offering i ("m7i.large").
func (r Rows) InstanceType(i int) string { return r.s.text(r.At(i).Type) }

// Family is the instance family of offering i ("m7i").
func (r Rows) Family(i int) string { return r.s.text(r.At(i).Family) }

// Zone is the zone of offering i.
func (r Rows) Zone(i int) string { return r.s.text(r.At(i).Zone) }

// Verdicts are the answers, a row for each offering.
type Verdicts struct{ s *session }

func (v Verdicts) at(i int) *abi.RankOut { return (*abi.RankOut)(v.s.row(&v.s.batch.Out, i)) }

// Score sets the effective cost of offering i in USD/hour: finite, at least 0.
func (v Verdicts) Score(i int, usd float64) { v.at(i).Score = usd }

// MaxNodes says for how many nodes the score of offering i holds; 0 is
// unlimited.
func (v Verdicts) MaxNodes(i int, n uint32) { v.at(i).MaxNodes = n }

// Group lets the offerings of one group, numbered from 1, use up their MaxNodes
// together: each node takes 1/MaxNodes. The group is this NodePool's own.
func (v Verdicts) Group(i int, group uint32) { v.at(i).Group = group }

// SharedGroup is like Group, with one group for all NodePools of the decision.
func (v Verdicts) SharedGroup(i int, group uint32) {
	out := v.at(i)
	out.Group = group
	out.Flags |= abi.RankShared
}

// Exclude drops offering i.
func (v Verdicts) Exclude(i int, reason string) {
	out := v.at(i)
	out.Flags |= abi.RankExclude
	out.Reason = v.s.reason(reason)
}

// Reason explains the score of offering i.
func (v Verdicts) Reason(i int, reason string) { v.at(i).Reason = v.s.reason(reason) }
