package insertion

import "spokeshave.dev/controller/core/solver/problem"

// verdicts remembers by class and position whether the constraints between pods admit
// one more pod of the class there. Places with equal positions share an answer, and an
// answer holds until a pod is placed that one of the class's topology groups counts or
// that has a rule about it.
type verdicts struct {
	rules *domainRules
	// positions is how many different ones there are.
	positions int
	// stamps are by class the state of its topology groups when its answers were given.
	stamps  []uint64
	answers [][]verdict
}

// verdict is a remembered answer.
type verdict uint8

const (
	unknown verdict = iota
	admitted
	refused
)

// newVerdicts returns no answers for so many classes and different positions.
func newVerdicts(rules *domainRules, classes, positions int) *verdicts {
	return &verdicts{rules: rules, positions: positions, stamps: make([]uint64, classes), answers: make([][]verdict, classes)}
}

// of returns the answers for class c by the number of the position; nil when every
// position admits it. They hold until a pod is placed.
func (t *verdicts) of(c int32, cl *problem.Class) []verdict {
	if cl.Terms == nil {
		return nil
	}
	stamp := t.rules.stamp(cl)
	row := t.answers[c]
	switch {
	case row == nil:
		row = make([]verdict, t.positions)
		t.answers[c] = row
	case t.stamps[c] != stamp:
		clear(row)
	}
	t.stamps[c] = stamp
	return row
}

// admits reports whether position x admits one more pod of the class with the answers.
func (t *verdicts) admits(answers []verdict, cl *problem.Class, x *topologyPosition) bool {
	if answers == nil {
		return true
	}
	if answers[x.id] == unknown {
		answers[x.id] = refused
		if t.rules.allows(cl, x) {
			answers[x.id] = admitted
		}
	}
	return answers[x.id] == admitted
}
