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
		"HeaviestNodeTerm": {
			reason: "of two node terms that contradict each other the heavier one counts",
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
			reason: "a third pod finds no zone of its own and is placed all the same, and the others keep theirs",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 500, 1, labelled("x"), preferApart(constraint.LabelZone, "x"))
			},
			want: []string{"general m.large a on-demand <- ac", "general m.large b on-demand <- b"},
		},
		"SoftHostsAsFarAsPossible": {
			reason: "with three nodes to be had, the fourth pod shares one",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Limits = model.Resources{model.NodeCount: 3}
				s.Pools[0].Usage = model.Resources{}
				pending(in, 4, 300, 1, labelled("x"), spread(constraint.LabelHostname, "x", 1, soft))
			},
			want: []string{"general m.large a on-demand <- a", "general m.large a on-demand <- b", "general m.large a on-demand <- cd"},
		},
		"NextNodeTerm": {
			reason: "where the heaviest term cannot be met, the next one counts, whatever stands beside it",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, prefer(10, model.Term{require(constraint.LabelZone, model.In, "moon")}), prefer(5, dear),
					prefer(1, model.Term{require("karpenter.k8s.aws/instance-size", model.In, "large")}))
			},
			want: []string{"general m.2xlarge a on-demand <- a"},
		},
		"ContradictionLeavesOthers": {
			reason: "two node terms that exclude each other do not cost a pod its anti-affinity",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), preferApart(constraint.LabelHostname, "x"),
					prefer(2, model.Term{require(constraint.LabelZone, model.In, "b")}), prefer(1, model.Term{require(constraint.LabelZone, model.In, "a")}))
			},
			want: []string{"general m.large b on-demand <- a", "general m.large b on-demand <- b"},
		},
		"TenTerms": {
			reason: "what one pod cannot have costs no other pod its preference",
			setup: func(in *Input, _ *model.Snapshot) {
				var terms []func(*model.PodSpec)
				for i := range 10 {
					terms = append(terms, prefer(int32(10+i), model.Term{require(constraint.LabelZone, model.In, "moon-"+string(rune('a'+i)))}))
				}
				pending(in, 1, 500, 1, terms...)
				pending(in, 2, 300, 1, labelled("x"), preferApart(constraint.LabelZone, "x"))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large b on-demand <- c"},
		},
		"FewestWaive": {
			reason: "where a pod finds no place because of others' preferences, as few of these as possible give way, the smallest pods first",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools = nil
				s.Nodes = []model.Node{standby("one", model.Initialized), standby("two", model.Initialized), standby("xtra", model.Initialized)}
				for i := range s.Nodes {
					s.Nodes[i].Pool = -1
				}
				pending(in, 2, 700, 1, labelled("z"), preferApart(constraint.LabelHostname, "z"))
				pending(in, 1, 300, 1, labelled("x"), preferApart(constraint.LabelHostname, "y"), selector(constraint.LabelHostname, "xtra"))
				pending(in, 1, 900, 1, labelled("y"), selector(constraint.LabelHostname, "xtra"))
			},
			want: []string{"one <- a", "two <- b", "xtra <- dc"},
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
		"SoftSpreadFirst": {
			reason: "zones are evened out although one node would do",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 300, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, soft))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large b on-demand <- c"},
		},
		"SoftSpreadAsFarAsPossible": {
			reason: "where a zone takes no more pods, the others take the rest evenly",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools = nil
				for _, zone := range []string{"a", "b", "c"} {
					n := standby("in-"+zone, model.Initialized)
					n.Pool, n.Zone = -1, zone
					n.Labels = map[string]string{constraint.LabelZone: zone}
					s.Nodes = append(s.Nodes, n)
				}
				s.Nodes[2].Allocatable = model.Resources{"cpu": 100, "memory": gib, "pods": 9}
				pending(in, 6, 300, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, soft))
			},
			want: []string{"in-a <- acd", "in-b <- bef"},
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
