package solver

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// noRoom is why a pod that wants others on its own node waits beside them.
const noRoom = "the pods that it wants on its own node leave no room for it there, on any node or instance type that suits all of them"

// TestTogetherOnANode: pods that want others on their own node, where none of
// those runs yet.
func TestTogetherOnANode(t *testing.T) {
	try(t, map[string]trial{
		"WithOthers": {
			reason: "the pod and the one it wants share a new node, though two would each do",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 1500, 1, follow(constraint.LabelHostname, "y"))
				pending(in, 1, 1500, 1, labelled("y"))
			},
			want: []string{"general m.xlarge a on-demand <- ba"},
		},
		"Pairs": {
			reason: "a cache on each node and a server beside every cache, as in Kubernetes' own example",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 500, 1, labelled("cache"), avoid(constraint.LabelHostname, "cache"))
				pending(in, 3, 400, 1, labelled("web"), avoid(constraint.LabelHostname, "web"), follow(constraint.LabelHostname, "cache"))
			},
			want: []string{"general m.large a on-demand <- ad", "general m.large a on-demand <- be", "general m.large a on-demand <- cf"},
		},
		"MoreServersThanCaches": {
			reason: "a server that wants to be alone of its kind finds no third cache",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("cache"), avoid(constraint.LabelHostname, "cache"))
				pending(in, 3, 400, 1, labelled("web"), avoid(constraint.LabelHostname, "web"), follow(constraint.LabelHostname, "cache"))
			},
			want: []string{"e:  PodAffinity: " + noRoom, "general m.large a on-demand <- ac", "general m.large a on-demand <- bd"},
		},
		"Evenly": {
			reason: "five followers of two: three and two",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 1000, 1, labelled("y"), avoid(constraint.LabelHostname, "y"))
				pending(in, 5, 900, 1, follow(constraint.LabelHostname, "y"))
			},
			want: []string{"general m.xlarge a on-demand <- acde", "general m.xlarge a on-demand <- bfg"},
		},
		"Themselves": {
			reason: "pods that want their own kind begin on one node, which holds all of them",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 1500, 1, labelled("x"), follow(constraint.LabelHostname, "x"))
			},
			want: []string{"general m.2xlarge a on-demand <- abc"},
		},
		"LargeAndShy": {
			reason: "nodes get few pods where many mind whom they meet, and all of a group nevertheless",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 6, 500, 1, labelled("x"), follow(constraint.LabelHostname, "x"), spread(constraint.LabelHostname, "y", 5))
				pending(in, 1, 500, 1, labelled("y"))
				pending(in, 2, 500, 1, labelled("z"), avoid(constraint.LabelHostname, "z"))
			},
			want: []string{"general m.large a on-demand <- h", "general m.xlarge a on-demand <- iabcdefg"},
		},
		"TwoKindsTogether": {
			reason: "whoever counts may begin, and others follow",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 1500, 1, labelled("x"), follow(constraint.LabelHostname, "x"))
				pending(in, 1, 1000, 1, labelled("x"), follow(constraint.LabelHostname, "x"))
			},
			want: []string{"general m.xlarge a on-demand <- abc"},
		},
		"MoreThanANode": {
			reason: "the second could not begin elsewhere, as the first is there already",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 3, 5000, 1, labelled("x"), follow(constraint.LabelHostname, "x"))
			},
			want: []string{"b:  PodAffinity: " + noRoom, "c:  PodAffinity: " + noRoom, "general m.2xlarge a on-demand <- a"},
		},
		"BesideThoseThere": {
			reason: "one of them runs: there is no beginning anew elsewhere",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a")
				occupy(s, 3500, func(_ *model.Pod, spec *model.PodSpec) { labelled("x")(spec) })
				pending(in, 2, 400, 1, labelled("x"), follow(constraint.LabelHostname, "x"))
			},
			want: []string{"c:  PodAffinity: no node with the pods that it wants on its own node has room for it", "in-a <- b"},
		},
		"Chain": {
			reason: "z wants y, which wants x: all three share a node",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 900, 1, follow(constraint.LabelHostname, "y"))
				pending(in, 1, 900, 1, labelled("y"), follow(constraint.LabelHostname, "x"))
				pending(in, 1, 900, 1, labelled("x"))
			},
			want: []string{"general m.xlarge a on-demand <- cba"},
		},
		"OnANodeThatIsThere": {
			reason: "a group that fits a node at hand needs no new one",
			setup: func(in *Input, s *model.Snapshot) {
				zoned(s, "a")
				pending(in, 2, 1500, 1, labelled("x"), follow(constraint.LabelHostname, "x"))
			},
			want: []string{"in-a <- ab"},
		},
		"DifferentNodes": {
			reason: "what both ask for excludes each other: the wanted one goes alone",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, follow(constraint.LabelHostname, "y"), selector(constraint.LabelZone, "a"))
				pending(in, 1, 400, 1, labelled("y"), selector(constraint.LabelZone, "b"))
			},
			want: []string{"a:  PodAffinity: " + noRoom, "general m.large b on-demand <- b"},
		},
		"ZoneAndNode": {
			reason: "groups are spread over zones like single pods",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 1000, 1, labelled("y"), spread(constraint.LabelZone, "y", 1))
				pending(in, 2, 900, 1, follow(constraint.LabelHostname, "y"), follow(constraint.LabelZone, "y"))
			},
			want: []string{"general m.large a on-demand <- ac", "general m.large b on-demand <- bd"},
		},
		"HostPorts": {
			reason: "two followers with one host port need a wanted pod each",
			setup: func(in *Input, _ *model.Snapshot) {
				port := func(s *model.PodSpec) { s.HostPorts = []model.HostPort{{Port: 80, Protocol: "TCP"}} }
				pending(in, 2, 300, 1, labelled("y"))
				pending(in, 2, 200, 1, port, follow(constraint.LabelHostname, "y"))
			},
			want: []string{"general m.large a on-demand <- ac", "general m.large a on-demand <- bd"},
		},
		"NoRoomUnderTheCap": {
			reason: "where both together cost too much, the wanted pod is not lost with the other",
			setup: func(in *Input, s *model.Snapshot) {
				pending(in, 1, 1500, 1, follow(constraint.LabelHostname, "y"))
				pending(in, 1, 1500, 1, labelled("y"))
				in.Headroom = []model.Headroom{{Policy: "cap", Scope: "cluster", Left: 100_000}}
			},
			want: []string{
				"a: general CeilingReached: with the pods that it wants on its own node: cap cap on cluster leaves 0.1000 $/h, cheapest fitting offering 0.2000 $/h (m.xlarge, a, on-demand)",
				"general m.large a on-demand <- b",
			},
		},
		"Preferred": {
			reason: "a preference for company on the node is respected while it can be",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 1500, 1, func(s *model.PodSpec) {
					s.PreferredPods = []model.WeightedPodTerm{{Weight: 1, Term: model.PodTerm{Key: constraint.LabelHostname, Selector: app("y")}}}
				})
				pending(in, 1, 1500, 1, labelled("y"))
			},
			want: []string{"general m.xlarge a on-demand <- ab"},
		},
	})
}
