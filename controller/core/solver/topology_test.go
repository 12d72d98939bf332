package solver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// labelled gives a pod labels app=name.
func labelled(name string) func(*model.PodSpec) {
	return func(s *model.PodSpec) { s.Labels = map[string]string{"app": name} }
}

// app selects the pods of namespace ns with app=name.
func app(name string) model.PodSelector {
	return model.PodSelector{Namespaces: []string{"ns"}, Labels: []model.Requirement{require("app", model.In, name)}}
}

func avoid(key, name string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAntiAffinity = append(s.PodAntiAffinity, model.PodTerm{Key: key, Selector: app(name)})
	}
}

func follow(key, name string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.PodAffinity = append(s.PodAffinity, model.PodTerm{Key: key, Selector: app(name)})
	}
}

func spread(key, name string, skew int32, change ...func(*model.Spread)) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		sp := model.Spread{Key: key, MaxSkew: skew, MinDomains: 1, Selector: app(name)}
		for _, f := range change {
			f(&sp)
		}
		s.Spread = append(s.Spread, sp)
	}
}

// zoned makes the first nodes, one in each zone given, roomy.
func zoned(s *model.Snapshot, zones ...string) {
	for _, z := range zones {
		n := standby("in-"+z, model.Initialized)
		n.Zone = z
		s.Nodes = append(s.Nodes, n)
	}
}

// trial is a question to the solver, and its plan as outline writes it.
type trial struct {
	reason string
	setup  func(in *Input, s *model.Snapshot)
	want   []string
}

// try solves every trial and proves the plans.
func try(t *testing.T, cases map[string]trial) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Snapshot: smallCluster(), Effort: DefaultEffort}
			tc.setup(&in, in.Snapshot)
			plan, _ := Solve(in)
			if diff := cmp.Diff(tc.want, outline(in.Snapshot, &plan)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
				t.Error(v)
			}
			for _, text := range prove(&in, &plan) {
				t.Error(text)
			}
		})
	}
}

func TestTopology(t *testing.T) {
	cases := map[string]trial{
		"ApartFromItself": {
			reason: "hostname anti-affinity to oneself: a node each",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), avoid(constraint.LabelHostname, "x"))
			},
			want: []string{"general m.large a on-demand <- a", "general m.large a on-demand <- b"},
		},
		"ApartFromOthers": {
			reason: "anti-affinity works both ways: neither class wants itself apart, but they cannot mix",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), avoid(constraint.LabelHostname, "y"))
				pending(in, 2, 400, 1, labelled("y"))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large a on-demand <- cd"},
		},
		"ApartFromThoseThere": {
			reason: "a pod on a node counts",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { labelled("y")(spec) })
				pending(in, 1, 500, 1, avoid(constraint.LabelHostname, "y"))
			},
			want: []string{"general m.large a on-demand <- b"},
		},
		"ThoseThereWantItApart": {
			reason: "the anti-affinity of a pod on a node keeps others away",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { avoid(constraint.LabelHostname, "x")(spec) })
				pending(in, 1, 500, 1, labelled("x"))
				pending(in, 1, 500, 1, labelled("z"))
			},
			want: []string{"general m.large a on-demand <- b", "there <- c"},
		},
		"SpreadOverNodes": {
			reason: "maxSkew bounds what one node may hold, as a new node starts from nothing",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 4, 200, 1, labelled("x"), spread(constraint.LabelHostname, "x", 2))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large a on-demand <- cd"},
		},
		"SpreadOverNodesOfOthers": {
			reason: "a spread that counts other pods lets in no more of those than maxSkew",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				for range 2 {
					occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { labelled("y")(spec) })
				}
				pending(in, 1, 200, 1, spread(constraint.LabelHostname, "y", 1))
				pending(in, 1, 200, 1, spread(constraint.LabelHostname, "y", 2))
			},
			want: []string{"general m.large a on-demand <- c", "there <- d"},
		},
		"SpreadOverZones": {
			reason: "three pods over two zones, the cheaper first",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 1500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1))
			},
			want: []string{"general m.large b on-demand <- c", "general m.xlarge a on-demand <- ab"},
		},
		"SpreadCountsThoseThere": {
			reason: "two pods run in zone a: the next two go to b",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a")
				for range 2 {
					occupy(s, 1900, func(_ *model.Pod, spec *model.PodSpec) { labelled("x")(spec) })
				}
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1))
			},
			want: []string{"general m.large b on-demand <- cd"},
		},
		"MinDomains": {
			reason: "with fewer domains than minDomains the least count is 0: one pod a zone",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, func(s *model.Spread) { s.MinDomains = 3 }))
			},
			want: []string{
				"c:  TopologySpread: no topology.kubernetes.io/zone suits: a has 1 pods of its spread (maxSkew 1, least 0), b has 1 pods of its spread (maxSkew 1, least 0)",
				"general m.large a on-demand <- a", "general m.large b on-demand <- b",
			},
		},
		"AffinityPolicyHonored": {
			reason: "only zones that the pod's selector allows are looked at",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1), selector(constraint.LabelZone, "b"))
			},
			want: []string{"general m.large b on-demand <- abc"},
		},
		"AffinityPolicyIgnored": {
			reason: "all zones with a node are looked at, and a stays empty",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a")
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, func(s *model.Spread) { s.IgnoreAffinity = true }), selector(constraint.LabelZone, "b"))
			},
			want: []string{
				"b:  TopologySpread: no topology.kubernetes.io/zone suits: b has 1 pods of its spread (maxSkew 1, least 0)",
				"general m.large b on-demand <- a",
			},
		},
		"AffinityPolicyIgnoredAndZonesForOthers": {
			reason: "the other pod may get a node in a, which would then stay empty",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, func(s *model.Spread) { s.IgnoreAffinity = true }), selector(constraint.LabelZone, "b"))
				pending(in, 1, 500, 1, selector(constraint.LabelZone, "a"))
			},
			want: []string{
				"b:  TopologySpread: no topology.kubernetes.io/zone suits: b has 1 pods of its spread (maxSkew 1, least 0)",
				"general m.large a on-demand <- c", "general m.large b on-demand <- a",
			},
		},
		"AffinityPolicyIgnoredAndZonesForNobody": {
			reason: "no pod may use a: no node comes there, and the scheduler will not know the zone",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, func(s *model.Spread) { s.IgnoreAffinity = true }), selector(constraint.LabelZone, "b"))
			},
			want: []string{"general m.large b on-demand <- ab"},
		},
		"TaintsHonored": {
			reason: "a zone that exists on a tainted node alone is not looked at with Honor",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "far")
				s.Nodes[0].Taints = []model.Taint{{Key: "x", Effect: model.NoSchedule}}
				pending(in, 4, 400, 1, labelled("x"), spread(constraint.LabelZone, "x", 1, func(s *model.Spread) { s.HonorTaints = true }))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large b on-demand <- cd"},
		},
		"TaintsIgnored": {
			reason: "by default it is, and stays empty",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "far")
				s.Nodes[0].Taints = []model.Taint{{Key: "x", Effect: model.NoSchedule}}
				pending(in, 3, 400, 1, labelled("x"), spread(constraint.LabelZone, "x", 1))
			},
			want: []string{
				"c:  TopologySpread: no topology.kubernetes.io/zone suits: a has 1 pods of its spread (maxSkew 1, least 0), b has 1 pods of its spread (maxSkew 1, least 0)",
				"general m.large a on-demand <- a", "general m.large b on-demand <- b",
			},
		},
		"SpreadOfOthers": {
			reason: "a pod that its own spread does not count goes where the others are few",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a", "b")
				for range 2 {
					occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { labelled("y")(spec) })
				}
				pending(in, 2, 500, 1, spread(constraint.LabelZone, "y", 1))
			},
			want: []string{"in-b <- cd"},
		},
		"ApartByZone": {
			reason: "one pod a zone, and none is left for the third",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 500, 1, labelled("x"), avoid(constraint.LabelZone, "x"))
			},
			want: []string{
				"c:  PodAntiAffinity: no topology.kubernetes.io/zone suits: a has pods it must be kept apart from, b has pods it must be kept apart from",
				"general m.large a on-demand <- a", "general m.large b on-demand <- b",
			},
		},
		"ApartByZoneFromOthers": {
			reason: "symmetric: those that are wanted apart find another zone",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 600, 1, labelled("x"), avoid(constraint.LabelZone, "y"))
				pending(in, 2, 500, 1, labelled("y"))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large b on-demand <- cd"},
		},
		"Together": {
			reason: "pods that want each other near share a zone, also when they fill several nodes",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 5, 7000, 1, labelled("x"), follow(constraint.LabelZone, "x"))
			},
			want: []string{
				"general m.2xlarge a on-demand <- a", "general m.2xlarge a on-demand <- b", "general m.2xlarge a on-demand <- c",
				"general m.2xlarge a on-demand <- d", "general m.2xlarge a on-demand <- e",
			},
		},
		"NearThoseThere": {
			reason: "one that runs decides the zone",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "b")
				occupy(s, 3900, func(_ *model.Pod, spec *model.PodSpec) { labelled("x")(spec) })
				pending(in, 2, 500, 1, labelled("x"), follow(constraint.LabelZone, "x"))
			},
			want: []string{"general m.large b on-demand <- bc"},
		},
		"NearOthers": {
			reason: "pods planned in the same solve count, and chains are followed",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, labelled("z"), follow(constraint.LabelZone, "y"))
				pending(in, 1, 600, 1, labelled("y"), follow(constraint.LabelZone, "x"))
				pending(in, 1, 700, 1, labelled("x"), selector(constraint.LabelZone, "b"))
			},
			want: []string{"general m.large b on-demand <- cba"},
		},
		"NearNobody": {
			reason: "there is nobody, and the pod itself does not count",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, labelled("x"), follow(constraint.LabelZone, "y"))
			},
			want: []string{"a:  PodAffinity: no topology.kubernetes.io/zone suits: a has none of the pods it wants near, b has none of the pods it wants near"},
		},
		"NearEachOther": {
			reason: "neither can be the first: the scheduler would not start either",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 600, 1, labelled("x"), follow(constraint.LabelZone, "y"))
				pending(in, 1, 500, 1, labelled("y"), follow(constraint.LabelZone, "x"))
			},
			want: []string{
				"a:  PodAffinity: no topology.kubernetes.io/zone suits: a has none of the pods it wants near, b has none of the pods it wants near",
				"b:  PodAffinity: no topology.kubernetes.io/zone suits: a has none of the pods it wants near, b has none of the pods it wants near",
			},
		},
		"NearOnNode": {
			reason: "hostname affinity to a pod that runs",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a", "b")
				occupy(s, 100, func(p *model.Pod, spec *model.PodSpec) { labelled("y")(spec); p.Node = 1 })
				pending(in, 1, 500, 1, follow(constraint.LabelHostname, "y"))
			},
			want: []string{"in-b <- b"},
		},
		"CapacityType": {
			reason: "any label is a domain: capacity types",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = s.Pools[0].Requirements[1:]
				pending(in, 2, 1500, 1, labelled("x"), spread(constraint.LabelCapacityType, "x", 1))
			},
			want: []string{"general m.large a on-demand <- a", "general m.large a spot <- b"},
		},
		"PoolLabel": {
			reason: "so are labels of the user's own",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = append(s.Pools[0].Requirements, require("team", model.In, "red", "blue"))
				pending(in, 2, 1500, 1, labelled("x"), spread("team", "x", 1))
			},
			want: []string{"general m.large a on-demand team=blue <- a", "general m.large a on-demand team=red <- b"},
		},
		"EndingDoNotSpread": {
			reason: "a pod that is being deleted is not counted by a spread",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a")
				occupy(s, 100, func(p *model.Pod, spec *model.PodSpec) { labelled("x")(spec); p.Ending = true })
				pending(in, 1, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1))
			},
			want: []string{"in-a <- b"},
		},
		"NearThoseLeaving": {
			reason: "what runs on a node that is being deleted is nobody to rely on",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("leaving", model.Deleting)}
				occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { labelled("y")(spec) })
				pending(in, 1, 500, 1, follow(constraint.LabelZone, "y"))
			},
			want: []string{"b:  PodAffinity: no topology.kubernetes.io/zone suits: a has none of the pods it wants near, b has none of the pods it wants near"},
		},
		"KeysOfAllSpreads": {
			reason: "a node that lacks the label of another spread is not counted by this one",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "b")
				for range 2 {
					occupy(s, 1000, func(_ *model.Pod, spec *model.PodSpec) { labelled("x")(spec) })
				}
				s.Pools[0].NodeLabels = map[string]string{"team": "red"}
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1), spread("team", "x", 9))
			},
			want: []string{"general m.large a on-demand <- c", "general m.large b on-demand <- d"},
		},
		"WhereVolumesAre": {
			reason: "volumes hold a pod in a zone, and others with nodes count all the same",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "b")
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1), func(s *model.PodSpec) {
					s.Pinned, s.Affinity = true, []model.Term{{require(constraint.LabelZone, model.In, "a")}}
				})
			},
			want: []string{
				"b:  TopologySpread: no topology.kubernetes.io/zone suits: a has 1 pods of its spread (maxSkew 1, least 0)",
				"general m.large a on-demand <- a",
			},
		},
		"MovingPods": {
			reason: "pods of a node that is being deleted are placed anew and not counted where they were",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("leaving", model.Deleting)}
				pending(in, 2, 500, 1, labelled("x"), spread(constraint.LabelZone, "x", 1))
				s.Pods[0].Node, s.Pods[1].Node = 0, 0
			},
			want: []string{"general m.large a on-demand <- a", "general m.large b on-demand <- b"},
		},
	}
	try(t, cases)
}
