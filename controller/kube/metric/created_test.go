package metric

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
)

// TestCreated: claims are counted by why they were made, replacements too, and by whether
// minValues were given up.
func TestCreated(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewDecisions(reg, nil)
	s := seen()
	s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: "node.kubernetes.io/instance-type", MinValues: 2})
	node := func(types ...string) model.PlannedNode {
		var n model.PlannedNode
		for _, name := range types {
			n.Options = append(n.Options, model.Option{InstanceType: name})
		}
		return n
	}
	d := &decide.Decision{
		Plan: model.Plan{Nodes: []model.PlannedNode{node("m5.large", "c5.large"), node("m5.large"), node("not made")}},
		Commands: []decide.Command{
			{Method: disrupt.Drifted, Stage: decide.Start, Nodes: []int32{0}, Replacements: []model.PlannedNode{node("m5.large", "c5.large")}},
			{Method: disrupt.Underutilized, Stage: decide.Start, Nodes: []int32{1}, Replacements: []model.PlannedNode{node("not begun")}},
		},
	}
	m.Created(s, d, []string{model.ClaimName("general", d.ID, 0), model.ClaimName("general", d.ID, 1)})
	m.Disrupted(s, d, &cluster.Change{Marked: []string{s.Nodes[0].Claim}})
	want := map[string]float64{
		"nodeclaims_created_total false general provisioned": 1,
		"nodeclaims_created_total true general provisioned":  1,
		"nodeclaims_created_total false general drifted":     1,
	}
	if diff := cmp.Diff(want, values(t, reg, "nodeclaims_created_total")); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// TestZones: claims and nodes that come and go are counted by zone.
func TestZones(t *testing.T) {
	reg := prometheus.NewRegistry()
	s, err := NewReconcilers(reg)
	if err != nil {
		t.Fatal(err)
	}
	of := SubjectOf(map[string]string{"karpenter.sh/nodepool": "general", "karpenter.sh/capacity-type": "spot", "topology.kubernetes.io/zone": "a"})
	s.NodeCreated(of)
	s.NodeTerminated(of, 0, 0)
	s.Terminated(of, 0, 0)
	want := map[string]float64{
		"nodes_created_total general a": 1, "nodes_terminated_total general a": 1, "nodeclaims_terminated_total spot general a": 1,
	}
	if diff := cmp.Diff(want, values(t, reg, "nodes_created_total", "nodes_terminated_total", "nodeclaims_terminated_total")); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
