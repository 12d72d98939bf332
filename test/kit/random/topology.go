package random

import "spokeshave.dev/controller/core/model"

// Topology gives the specs of the snapshot labels, and some of them topology
// constraints and preferences; now and then a pool gets minValues.
func (g *Generator) Topology() {
	for i := range g.Snapshot.Pools {
		if p := &g.Snapshot.Pools[i]; g.Chance(0.1) {
			p.Requirements = append(p.Requirements, model.Requirement{
				Key: Pick(g, labelInstanceType, "karpenter.k8s.aws/instance-family"), Operator: model.Exists, MinValues: 1 + g.IntN(8),
			})
		}
	}
	for i := range g.Snapshot.Specs {
		s := &g.Snapshot.Specs[i]
		s.Labels = map[string]string{"app": Pick(g, "a", "b", "c", "d"), "tier": Pick(g, "web", "db")}
		if g.Chance(0.25) {
			s.Spread = append(s.Spread, g.Spread())
		}
		if g.Chance(0.05) {
			s.Spread = append(s.Spread, g.Spread())
		}
		if g.Chance(0.15) {
			s.PodAntiAffinity = append(s.PodAntiAffinity, g.PodTerm())
		}
		if g.Chance(0.15) {
			s.PodAffinity = append(s.PodAffinity, g.PodTerm())
		}
		g.prefer(s)
	}
}

// prefer gives a spec preferences, now and then.
func (g *Generator) prefer(s *model.PodSpec) {
	if g.Chance(0.05) {
		s.Preferred = append(s.Preferred, model.WeightedTerm{Weight: int32(1 + g.IntN(100)), Term: g.Term()})
	}
	if g.Chance(0.05) {
		s.PreferredApart = append(s.PreferredApart, model.WeightedPodTerm{Weight: int32(1 + g.IntN(100)), Term: g.PodTerm()})
	}
	if g.Chance(0.05) {
		s.PreferredPods = append(s.PreferredPods, model.WeightedPodTerm{Weight: int32(1 + g.IntN(100)), Term: g.PodTerm()})
	}
}

// Selector selects pods by the labels that Topology gives; now and then it
// selects nothing.
func (g *Generator) Selector() model.PodSelector {
	s := model.PodSelector{Namespaces: Pick(g, []string{"a"}, []string{"b"}, []string{"a", "b"})}
	switch g.IntN(4) {
	case 0:
		s.Labels = []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"a", "b"}}}
	case 1:
		s.Labels = []model.Requirement{{Key: "app", Operator: model.NotIn, Values: []string{"a"}}, {Key: "tier", Operator: model.In, Values: []string{"db"}}}
	default:
		s.Labels = []model.Requirement{{Key: "app", Operator: model.In, Values: []string{Pick(g, "a", "b", "c", "d")}}}
	}
	s.Nothing = g.Chance(0.03)
	return s
}

// Spread is a topology spread constraint over nodes, zones, capacity types or a
// label that few nodes have.
func (g *Generator) Spread() model.Spread {
	return model.Spread{
		Key:     Pick(g, labelHostname, labelZone, labelZone, labelCapacityType, "example.com/tier"),
		MaxSkew: Pick[int32](g, 1, 1, 2, 5), MinDomains: Pick[int32](g, 1, 1, 1, 3), Selector: g.Selector(),
		Soft: g.Chance(0.1), IgnoreAffinity: g.Chance(0.2), HonorTaints: g.Chance(0.2),
	}
}

// PodTerm is a term of pod affinity or anti-affinity.
func (g *Generator) PodTerm() model.PodTerm {
	return model.PodTerm{Key: Pick(g, labelHostname, labelHostname, labelZone, labelCapacityType, "example.com/tier"), Selector: g.Selector()}
}
