package random

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// Daemon is the i-th DaemonSet, which may need node labels, tolerations or a host
// port.
func (g *Generator) Daemon(i int) model.DaemonSet {
	d := model.DaemonSet{Namespace: "kube-system", Name: fmt.Sprintf("agent-%d", i)}
	d.Spec = model.PodSpec{Namespace: "kube-system", Requests: model.Resources{"pods": 1, "cpu": 50, "memory": 64 << 20}}
	if g.Chance(0.3) {
		d.Spec.NodeSelector = map[string]string{labelArch: "amd64"}
	}
	if g.Chance(0.3) {
		d.Spec.NodeSelector = map[string]string{labelCapacityType: "spot"}
	}
	if g.Chance(0.5) {
		d.Spec.Tolerations = []model.Toleration{{Exists: true}}
	}
	if g.Chance(0.2) {
		d.Spec.HostPorts = []model.HostPort{{Protocol: "TCP", Port: 8080}}
	}
	return d
}

// Node is the i-th node, in any state, of a pool and an instance type of the
// snapshot. Nodes of state Unmanaged have no pool.
func (g *Generator) Node(i int) model.Node {
	t := &g.Snapshot.Catalogs[0].Types[g.IntN(len(g.Snapshot.Catalogs[0].Types))]
	n := model.Node{
		Name: fmt.Sprintf("node-%d", i), Pool: int32(g.IntN(len(g.Snapshot.Pools))), InstanceType: t.Name,
		State: Pick(g, model.InFlight, model.Registered, model.Initialized, model.Initialized, model.Deleting, model.Unmanaged),
		Zone:  "us-west-2a", CapacityType: model.Spot, Allocatable: t.Allocatable.Clone(),
	}
	if n.State == model.Unmanaged {
		n.Pool = -1
	}
	if n.State != model.InFlight {
		n.Labels = t.Labels
	}
	if g.Chance(0.3) {
		n.Taints = append(n.Taints, model.Taint{Key: "karpenter.sh/unregistered", Effect: model.NoExecute})
	}
	if g.Chance(0.2) {
		n.Taints = append(n.Taints, model.Taint{Key: "example.com/starting", Effect: model.NoSchedule})
	}
	return n
}
