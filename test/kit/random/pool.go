package random

import "spokeshave.dev/controller/core/model"

// Pool is a NodePool on the catalogue at an index of Snapshot.Catalogs, with or
// without weight, requirements, labels, taints and limits.
func (g *Generator) Pool(name string, catalog int32) model.Pool {
	p := model.Pool{Name: name, NodeClass: g.Snapshot.Catalogs[catalog].NodeClass, Catalog: catalog}
	if g.Chance(0.3) {
		p.Weight = int32(g.IntN(3)) * 10
	}
	if g.Chance(0.4) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: labelArch, Operator: model.In, Values: []string{Pick(g, "amd64", "arm64")}})
	}
	if g.Chance(0.4) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: labelCapacityType, Operator: model.In, Values: []string{Pick(g, "spot", "on-demand")}})
	}
	if g.Chance(0.3) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: labelZone, Operator: model.NotIn, Values: []string{"us-west-2a"}})
	}
	if g.Chance(0.3) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Gt, Values: []string{"2"}})
	}
	if g.Chance(0.4) {
		p.Requirements = append(p.Requirements, Pick(g,
			model.Requirement{Key: "example.com/team", Operator: model.In, Values: []string{"red"}},
			model.Requirement{Key: "example.com/team", Operator: model.In, Values: []string{"red", "blue", "grey"}},
			model.Requirement{Key: "example.com/team", Operator: model.NotIn, Values: []string{"red"}},
			model.Requirement{Key: "example.com/team", Operator: model.Exists}))
	}
	if g.Chance(0.3) {
		p.NodeLabels = map[string]string{"example.com/tier": Pick(g, "gold", "iron")}
	}
	if g.Chance(0.3) {
		p.Taints = []model.Taint{{Key: "example.com/dedicated", Value: "x", Effect: Pick(g, model.NoSchedule, model.NoExecute, model.PreferNoSchedule)}}
	}
	if g.Chance(0.2) {
		p.StartupTaints = []model.Taint{{Key: "example.com/starting", Effect: model.NoSchedule}}
	}
	if g.Chance(0.3) {
		p.Limits = model.Resources{"cpu": int64(g.IntN(60)) * 1000}
		p.Usage = model.Resources{"cpu": int64(g.IntN(20)) * 1000}
	}
	if g.Chance(0.15) {
		p.Limits = model.Resources{"nodes": int64(g.IntN(6))}
	}
	if g.Chance(0.05) {
		p.NotReady = "subnets not found"
	}
	return p
}
