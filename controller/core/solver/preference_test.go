package solver

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

func TestPreferences(t *testing.T) {
	dear := model.Term{require("karpenter.k8s.aws/instance-size", model.In, "2xlarge")}
	prefer := func(weight int32, term model.Term) func(*model.PodSpec) {
		return func(s *model.PodSpec) {
			s.Preferred = append(s.Preferred, model.WeightedTerm{Weight: weight, Term: term})
		}
	}
	preferApart := func(key, name string) func(*model.PodSpec) {
		return func(s *model.PodSpec) {
			s.PreferredApart = append(s.PreferredApart, model.WeightedPodTerm{Weight: 1, Term: model.PodTerm{Key: key, Selector: app(name)}})
		}
	}
	preferNear := func(key, name string) func(*model.PodSpec) {
		return func(s *model.PodSpec) {
			s.PreferredPods = append(s.PreferredPods, model.WeightedPodTerm{Weight: 1, Term: model.PodTerm{Key: key, Selector: app(name)}})
		}
	}
	soft := func(s *model.Spread) { s.Soft = true }
	cases := map[string]trial{
		"Node": {
			reason: "a preferred size is chosen although it is dear",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 500, 1, prefer(1, dear)) },
			want:   []string{"general m.2xlarge a on-demand <- a"},
		},
		"NodeIgnored": {
			reason: "unless preferences are ignored",
			setup: func(in *Input, s *model.Snapshot) {
				s.Settings.IgnorePreferences = true
				pending(in, 1, 500, 1, prefer(1, dear), preferApart(constraint.LabelZone, "x"), preferNear(constraint.LabelZone, "y"), labelled("x"))
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"LightestFirst": {
			reason: "of two that contradict each other the heavier one stays",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, prefer(10, dear), prefer(5, model.Term{require("karpenter.k8s.aws/instance-size", model.In, "large")}))
			},
			want: []string{"general m.2xlarge a on-demand <- a"},
		},
		"NeverLost": {
			reason: "what cannot be is given up",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, prefer(1, model.Term{require(constraint.LabelZone, model.In, "moon")}), preferNear(constraint.LabelZone, "nobody"))
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"Apart": {
			reason: "preferred anti-affinity keeps pods on nodes of their own",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), preferApart(constraint.LabelHostname, "x"))
			},
			want: []string{"general m.large a on-demand <- a", "general m.large a on-demand <- b"},
		},
		"ApartAsFarAsPossible": {
			reason: "a third pod finds no zone of its own and is placed all the same",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 500, 1, labelled("x"), preferApart(constraint.LabelZone, "x"))
			},
			want: []string{"general m.large a on-demand <- abc"},
		},
		"NotAnothersLoss": {
			reason: "no pod is lost over the preference of another",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools = nil
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				s.Nodes[0].Pool = -1
				pending(in, 1, 1000, 1, labelled("x"), preferApart(constraint.LabelHostname, "y"))
				pending(in, 1, 500, 1, labelled("y"))
			},
			want: []string{"there <- ab"},
		},
		"SoftSpread": {
			reason: "ScheduleAnyway evens zones out, without a bound",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 1500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, soft))
			},
			want: []string{"general m.large a on-demand <- a", "general m.large b on-demand <- b"},
		},
		"SoftSpreadUneven": {
			reason: "where a zone cannot be used the others take all",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 400, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, soft), selector(constraint.LabelZone, "b"))
			},
			want: []string{"general m.large b on-demand <- abc"},
		},
		"Taint": {
			reason: "a node with a PreferNoSchedule taint is the last resort",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				s.Nodes[0].Taints = []model.Taint{{Key: "x", Effect: model.PreferNoSchedule}}
				pending(in, 1, 500, 1)
				pending(in, 1, 600, 1, selector(constraint.LabelHostname, "there"))
			},
			want: []string{"general m.large a on-demand <- a", "there <- b"},
		},
	}
	try(t, cases)
}
