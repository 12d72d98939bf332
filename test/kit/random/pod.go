package random

import "spokeshave.dev/controller/core/model"

// Spec is a pod without topology constraints. About one in fifty fits on no
// instance type.
func (g *Generator) Spec() model.PodSpec {
	s := model.PodSpec{
		Namespace: Pick(g, "a", "b"),
		Requests: model.Resources{
			"pods": 1, "cpu": Pick[int64](g, 50, 100, 250, 500, 1000, 2000, 3500), "memory": int64(1+g.IntN(40)) * (100 << 20),
		},
	}
	if g.Chance(0.05) {
		s.Requests["nvidia.com/gpu"] = 1
	}
	if g.Chance(0.05) {
		s.Requests["ephemeral-storage"] = int64(g.IntN(10)) * gib
	}
	if g.Chance(0.02) {
		s.Requests["cpu"] = 500_000
	}
	if g.Chance(0.15) {
		s.NodeSelector = map[string]string{labelArch: Pick(g, "amd64", "arm64")}
	}
	if g.Chance(0.1) {
		s.NodeSelector = map[string]string{"example.com/team": Pick(g, "red", "blue", "green")}
	}
	if g.Chance(0.1) {
		s.NodeSelector = map[string]string{labelZone: Pick(g, "us-west-2a", "us-west-2b", "us-west-2c")}
	}
	if g.Chance(0.2) {
		s.Affinity = []model.Term{g.Term()}
		if g.Chance(0.4) {
			s.Affinity = append(s.Affinity, g.Term())
		}
	}
	if g.Chance(0.4) {
		s.Tolerations = []model.Toleration{{Key: "example.com/dedicated", Exists: g.Chance(0.5), Value: Pick(g, "x", "y")}}
	}
	if g.Chance(0.06) {
		s.HostPorts = []model.HostPort{{Protocol: Pick(g, "TCP", "UDP"), Port: Pick[int32](g, 80, 8080), IP: Pick(g, "", "10.0.0.1", "0.0.0.0")}}
	}
	if g.Chance(0.2) {
		s.Priority = Pick[int32](g, 100, 1000, -5)
	}
	if g.Chance(0.03) {
		s.Unsupported = []string{"podAntiAffinity"}
	}
	return s
}

// Term is a node affinity term of one or two requirements.
func (g *Generator) Term() model.Term {
	var t model.Term
	for range 1 + g.IntN(2) {
		t = append(t, Pick(g,
			model.Requirement{Key: labelZone, Operator: model.In, Values: []string{"us-west-2a", "us-west-2b"}},
			model.Requirement{Key: labelCapacityType, Operator: model.NotIn, Values: []string{"spot"}},
			model.Requirement{Key: "karpenter.k8s.aws/instance-gpu-name", Operator: model.DoesNotExist},
			model.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Lt, Values: []string{"16"}},
			model.Requirement{Key: "example.com/tier", Operator: model.Exists},
			model.Requirement{Key: "example.com/tier", Operator: model.NotIn, Values: []string{"gold"}},
			model.Requirement{Key: labelZoneID, Operator: model.In, Values: []string{"usw2-az2", "usw2-az3"}},
			model.Requirement{Key: labelHostname, Operator: model.NotIn, Values: []string{"node-1"}},
			model.Requirement{Key: labelPool, Operator: model.In, Values: []string{"pool-0", "pool-1"}},
		))
	}
	return t
}
