package journal

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// What the parts of an entry take as JSON without their texts, in bytes: names of fields,
// numbers, punctuation.
const (
	entryBytes     = 300
	optionBytes    = 90
	nodeBytes      = 90
	candidateBytes = 70
	reasonBytes    = 60
	listedBytes    = 30
)

// bounded drops the oldest decisions beyond the number and the bytes that are kept.
func (j *Journal) bounded() {
	n, sum := len(j.entries), 0
	first := max(0, n-j.keep)
	for i := n - 1; i >= first; i-- {
		if sum += j.entries[i].size(); sum > j.bytes && i < n-1 {
			first = i + 1
		}
	}
	j.entries = append([]Entry(nil), j.entries[first:]...) // what is dropped is given back
}

// size estimates how many bytes the entry takes as JSON, to within a factor of two.
// Encoding it would take the loop a tenth of a second for a large one.
func (e *Entry) size() int {
	sum := entryBytes + 2*len(e.Policies)*listedBytes + 4*len(e.Headroom)*listedBytes + texts(e.Warnings)
	for i := range e.Policies {
		for _, d := range e.Policies[i].Differences { // in memory only
			sum += len(d.About) + len(d.Outcome) + len(d.Would)
		}
	}
	for i := range e.Nodes {
		sum += e.Nodes[i].size()
	}
	for i := range e.Existing {
		sum += listedBytes + len(e.Existing[i].Node) + texts(e.Existing[i].Pods)
	}
	for i := range e.Unplaced {
		sum += listedBytes + len(e.Unplaced[i].Pod)
		for k := range e.Unplaced[i].Reasons {
			r := &e.Unplaced[i].Reasons[k]
			sum += reasonBytes + len(r.Code) + len(r.Pool) + len(r.Policy) + len(r.Message) + len(r.Scope)
		}
	}
	for i := range e.Disruptions {
		c := &e.Disruptions[i]
		sum += candidateBytes + len(c.Node) + len(c.Claim) + len(c.Method) + len(c.Policy) + len(c.Reason)
	}
	for i := range e.Commands {
		c := &e.Commands[i]
		sum += candidateBytes + texts(c.Nodes) + len(c.Reason)
		for k := range c.Replacements {
			sum += c.Replacements[k].size()
		}
	}
	for i := range e.Candidates {
		sum += e.Candidates[i].size()
	}
	return sum
}

func (n *Node) size() int {
	sum := nodeBytes + len(n.Claim) + len(n.NodePool) + texts(n.Pods) + optionSize(&n.Best) + remarkSize(n.Remarks)
	for i := range n.Others {
		sum += optionSize(&n.Others[i])
	}
	for i := range n.OtherTypes {
		sum += optionSize(&n.OtherTypes[i])
	}
	for i := range n.NotOn {
		sum += listedBytes + 3*len(n.NotOn[i].Pods) + 5*listedBytes*len(n.NotOn[i].Refusals)
	}
	return sum
}

func (o *Offerings) size() int {
	sum := nodeBytes + len(o.NodePool) + len(o.Refused)
	for i := range o.Best {
		sum += optionSize(&o.Best[i].Option) + remarkSize(o.Best[i].Remarks)
	}
	for i := range o.Dropped {
		d := &o.Dropped[i]
		sum += listedBytes + len(d.Policy) + len(d.Reason) + optionSize(&d.Example)
	}
	return sum
}

func optionSize(o *model.Option) int { return optionBytes + len(o.InstanceType) + len(o.Zone) }

func remarkSize(all []policy.Remark) int {
	sum := 0
	for i := range all {
		sum += listedBytes + len(all[i].Policy) + len(all[i].Reason)
	}
	return sum
}

// texts returns what a list of texts takes.
func texts(all []string) int {
	sum := 0
	for _, t := range all {
		sum += len(t) + 3
	}
	return sum
}
