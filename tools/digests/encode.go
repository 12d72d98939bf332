package main

import (
	"fmt"
	"io"

	"spokeshave.dev/controller/core/model"
)

// writePlan writes everything that a plan decides, in its order, one line a node
// or pod. Maps are printed in order of their keys, and floats so that they read
// back as the same number.
func writePlan(w io.Writer, p *model.Plan) {
	for i := range p.Existing {
		fmt.Fprintln(w, "existing", p.Existing[i].Node, p.Existing[i].Pods)
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		fmt.Fprintf(w, "node %d %d %q %v\n", n.Pool, n.Pods, n.Labels, map[string]int64(n.Requests))
		for _, o := range n.Options {
			fmt.Fprintln(w, " option", o.InstanceType, o.Zone, o.CapacityType, int64(o.Price), o.Effective)
		}
	}
	for i := range p.Unplaced {
		u := &p.Unplaced[i]
		fmt.Fprint(w, "unplaced ", u.Pod)
		for _, r := range u.Reasons {
			fmt.Fprintf(w, " %s %q %q %q %d", r.Code, r.Pool, r.Policy, r.Scope, int64(r.Short))
		}
		fmt.Fprintln(w)
	}
}
