package random

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// FullEffort is the most effort of a question, in moves of the solver.
const FullEffort = 20000

// Question is a cluster and the pods to place. The solver's input has the same
// fields: this package may not import the solver, whose own tests use it.
type Question struct {
	Snapshot *model.Snapshot
	// Pods index Snapshot.Pods.
	Pods []int32
	// Effort is in moves of the solver, 0 to FullEffort; Tolerance is a share of
	// the cost, 0 to 0.5.
	Effort    int
	Tolerance float64
}

// Question makes a cluster of one to four pools and up to seven nodes, and asks
// for a place for its pods: all but those that a node which stays has already.
func (g *Generator) Question(pods int) Question {
	g.Snapshot = &model.Snapshot{Catalogs: []model.Catalog{g.Catalog("default", 1, 2, 4, 8, 16, 32), g.Catalog("other", 2, 8, 64)}}
	for i := range 1 + g.IntN(4) {
		g.Snapshot.Pools = append(g.Snapshot.Pools, g.Pool(fmt.Sprintf("pool-%d", i), int32(g.IntN(2))))
	}
	for i := range g.IntN(4) {
		g.Snapshot.Daemons = append(g.Snapshot.Daemons, g.Daemon(i))
	}
	for i := range g.IntN(8) {
		g.Snapshot.Nodes = append(g.Snapshot.Nodes, g.Node(i))
	}
	for range 1 + g.IntN(1+pods/2) {
		g.Snapshot.Specs = append(g.Snapshot.Specs, g.Spec())
	}
	q := Question{Snapshot: g.Snapshot, Effort: Pick(g, 0, 200, FullEffort), Tolerance: Pick(g, 0, 0.15, 0.5)}
	for i := range pods {
		p := model.Pod{Namespace: "ns", Name: fmt.Sprintf("pod-%d", i), Spec: int32(g.IntN(len(g.Snapshot.Specs))), Node: -1}
		if len(g.Snapshot.Nodes) > 0 && g.Chance(0.1) {
			p.Node = int32(g.IntN(len(g.Snapshot.Nodes)))
			p.Daemon = g.Chance(0.2)
			if p.Daemon {
				p.Name = fmt.Sprintf("agent-%d-x%d", g.IntN(4), i)
				p.Namespace = "kube-system"
			}
		}
		if p.Node < 0 || g.Snapshot.Nodes[p.Node].State == model.Deleting && !p.Daemon {
			q.Pods = append(q.Pods, int32(len(g.Snapshot.Pods)))
		}
		g.Snapshot.Pods = append(g.Snapshot.Pods, p)
	}
	return q
}
