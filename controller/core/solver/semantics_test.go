package solver

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

func TestSemantics(t *testing.T) {
	cases := map[string]struct {
		reason string
		setup  func(in *Input, s *model.Snapshot)
		want   []string
	}{
		"CheapestNodeThatFits": {
			reason: "a pod of 3 CPUs does not fit the large type, and the 2xlarge costs twice the xlarge",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 3000, 1) },
			want:   []string{"general m.xlarge a on-demand <- a"},
		},
		"PodSlots": {
			reason: "29 slots a node bound the pods, not CPU or memory",
			setup: func(in *Input, s *model.Snapshot) {
				for i := range s.Catalogs[0].Types {
					s.Catalogs[0].Types[i].Allocatable = model.Resources{"cpu": 8000, "memory": 32 * gib, "pods": 2}
				}
				pending(in, 4, 100, 0)
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large a on-demand <- cd"},
		},
		"UnknownResource": {
			reason: "no type has the extended resource",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, func(s *model.PodSpec) { s.Requests["nvidia.com/gpu"] = 1 })
			},
			want: []string{"a: general TooLarge: no matching instance type has nvidia.com/gpu"},
		},
		"TooLarge": {
			reason: "the reason names the resource and the most there is",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 9000, 1) },
			want:   []string{"a: general TooLarge: asks for 9 cpu, the largest matching instance type leaves 8 cpu to pods"},
		},
		"DaemonOverhead": {
			reason: "a DaemonSet of half a CPU leaves 1.5 on the large type",
			setup: func(in *Input, s *model.Snapshot) {
				s.Daemons = []model.DaemonSet{{Name: "agent", Spec: model.PodSpec{Requests: model.Resources{"cpu": 500, "pods": 1}}}}
				pending(in, 1, 1600, 1)
			},
			want: []string{"general m.xlarge a on-demand <- a"},
		},
		"DaemonElsewhere": {
			reason: "DaemonSets that select other nodes, or do not tolerate the pool, take no room",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Taints = []model.Taint{{Key: "team", Value: "x", Effect: model.NoSchedule}}
				s.Daemons = []model.DaemonSet{
					{Name: "arm", Spec: model.PodSpec{Requests: model.Resources{"cpu": 500}, NodeSelector: map[string]string{constraint.LabelArch: "arm64"}, Tolerations: []model.Toleration{{Exists: true}}}},
					{Name: "intolerant", Spec: model.PodSpec{Requests: model.Resources{"cpu": 500}}},
				}
				pending(in, 1, 2000, 1, tolerate(model.Toleration{Exists: true}))
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"DaemonOfOneZone": {
			reason: "a DaemonSet that runs in zone a only leaves the smaller node possible in zone b",
			setup: func(in *Input, s *model.Snapshot) {
				s.Daemons = []model.DaemonSet{{Name: "a", Spec: model.PodSpec{Requests: model.Resources{"cpu": 500}, NodeSelector: map[string]string{constraint.LabelZone: "a"}}}}
				pending(in, 1, 2000, 1)
			},
			want: []string{"general m.large b on-demand <- a"},
		},
		"ZoneSelector": {
			reason: "the offering's zone is a label",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 100, 1, selector(constraint.LabelZone, "b")) },
			want:   []string{"general m.large b on-demand <- a"},
		},
		"ZoneIDSelector": {
			reason: "and so is its zone id",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 100, 1, selector(constraint.LabelZoneID, "az-b")) },
			want:   []string{"general m.large b on-demand <- a"},
		},
		"InstanceTypeSelector": {
			reason: "a pod may name its instance type",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, selector(constraint.LabelInstanceType, "m.xlarge"))
			},
			want: []string{"general m.xlarge a on-demand <- a"},
		},
		"PoolSelector": {
			reason: "a pod may name its NodePool",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools = append(s.Pools, model.Pool{Name: "spot", Requirements: []model.Requirement{require(constraint.LabelCapacityType, model.In, "spot")}})
				pending(in, 1, 100, 1, selector(constraint.LabelPool, "general"))
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"HostnameSelector": {
			reason: "no new node has a name that somebody wrote down",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, selector(constraint.LabelHostname, "ip-10-0-0-1"))
			},
			want: []string{"a: general RequirementsConflict: the pod asks for a node by name (kubernetes.io/hostname=ip-10-0-0-1)"},
		},
		"PoolLabel": {
			reason: "template labels are labels of the nodes",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].NodeLabels = map[string]string{"tier": "gold"}
				pending(in, 1, 100, 1, selector("tier", "gold"))
				pending(in, 1, 100, 1, selector("tier", "iron"))
			},
			want: []string{"general m.large a on-demand <- a", "b: general RequirementsConflict: the pod asks for tier=iron, the NodePool's nodes have tier=gold"},
		},
		"PoolRequirementDefinesLabel": {
			reason: "a requirement on a key of the user's own gives the nodes that label; other own keys are absent",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = append(s.Pools[0].Requirements, require("team", model.In, "red"))
				pending(in, 1, 100, 1, selector("team", "red"))
				pending(in, 1, 100, 1, withAffinity(model.Term{require("other", model.Exists)}))
			},
			want: []string{"general m.large a on-demand team=red <- a", "b: general RequirementsConflict: the pod asks for other Exists, the NodePool's nodes do not have that label"},
		},
		"PoolLeavesLabelOpen": {
			reason: "pods choose among the values that the pool allows, each gets nodes of its own; the rest go with any",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = append(s.Pools[0].Requirements, require("team", model.In, "red", "blue"))
				pending(in, 1, 1000, 1, selector("team", "red"))
				pending(in, 1, 1000, 1, selector("team", "blue"))
				pending(in, 1, 1000, 1, selector("team", "green"))
				pending(in, 1, 1000, 1)
			},
			want: []string{
				"general m.large a on-demand team=blue <- bd", "general m.large a on-demand team=red <- a",
				"c: general RequirementsConflict: the pod asks for team=green, the NodePool requires team In [red, blue]",
			},
		},
		"PoolWantsSomeValue": {
			reason: "a pool that only wants the label to be there takes the values that pods name",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = append(s.Pools[0].Requirements, require("team", model.Exists), require("rank", model.Gt, "5"))
				pending(in, 1, 1000, 1, selector("team", "mauve"))
			},
			want: []string{"general m.large a on-demand rank=6 team=mauve <- a"},
		},
		"PoolCompares": {
			reason: "Gte and Lte of a NodePool include the bound, Gt and Lt of a pod do not",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = append(s.Pools[0].Requirements, require("karpenter.k8s.aws/instance-cpu", model.Gte, "4"), require("karpenter.k8s.aws/instance-cpu", model.Lte, "4"))
				pending(in, 1, 100, 1)
				pending(in, 1, 100, 1, withAffinity(model.Term{require("karpenter.k8s.aws/instance-cpu", model.Gt, "4")}))
				pending(in, 1, 100, 1, withAffinity(model.Term{require("karpenter.k8s.aws/instance-cpu", model.Lt, "4")}))
			},
			want: []string{
				"general m.xlarge a on-demand <- a",
				"b: general RequirementsConflict: the NodePool's requirements exclude every offering that karpenter.k8s.aws/instance-cpu Gt [4] allows",
				"c: general RequirementsConflict: the NodePool's requirements exclude every offering that karpenter.k8s.aws/instance-cpu Lt [4] allows",
			},
		},
		"PoolComparesItsLabel": {
			reason: "a label of the pool's own gets a value within the bounds, which count",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = append(s.Pools[0].Requirements, require("rank", model.Gte, "5"), require("rank", model.Lte, "5"))
				pending(in, 1, 1000, 1)
			},
			want: []string{"general m.large a on-demand rank=5 <- a"},
		},
		"ExcludedByPool": {
			reason: "the catalogue has arm64, the pool does not want it",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 100, 1, selector(constraint.LabelArch, "arm64")) },
			want:   []string{"a: general RequirementsConflict: the NodePool's requirements exclude every offering that kubernetes.io/arch=arm64 allows"},
		},
		"NothingInCatalogue": {
			reason: "no instance type at all is of the family",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, selector("karpenter.k8s.aws/instance-family", "z"))
			},
			want: []string{`a: general NoInstanceType: no instance type of NodeClass "default" meets karpenter.k8s.aws/instance-family=z`},
		},
		"TermsAreAlternatives": {
			reason: "one of the terms has to hold, all of its requirements",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, withAffinity(
					model.Term{require(constraint.LabelZone, model.In, "z")},
					model.Term{require(constraint.LabelZone, model.NotIn, "a"), require("karpenter.k8s.aws/instance-cpu", model.Gt, "2"), require("karpenter.k8s.aws/instance-cpu", model.Lt, "8")}))
			},
			want: []string{"general m.xlarge b on-demand <- a"},
		},
		"EmptyTerm": {
			reason: "an empty term matches no node, as in Kubernetes",
			setup:  func(in *Input, _ *model.Snapshot) { pending(in, 1, 100, 1, withAffinity(model.Term{})) },
			want:   []string{`a: general NoInstanceType: no instance type of NodeClass "default" meets `},
		},
		"ExistsAndDoesNotExist": {
			reason: "presence alone can be asked for",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, withAffinity(model.Term{require("karpenter.k8s.aws/instance-size", model.Exists), require("karpenter.k8s.aws/instance-gpu-name", model.DoesNotExist)}))
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"TaintCompared": {
			reason: "a toleration may compare numbers: Gt wants a taint of more, Lt one of less",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Taints = []model.Taint{{Key: "sla", Value: "95", Effect: model.NoSchedule}}
				pending(in, 1, 100, 1, tolerate(model.Toleration{Key: "sla", Compare: model.Gt, Value: "90"}))
				pending(in, 1, 100, 1, tolerate(model.Toleration{Key: "sla", Compare: model.Lt, Value: "90"}))
				pending(in, 1, 100, 1, tolerate(model.Toleration{Key: "sla", Compare: model.Gt, Value: "95"}))
			},
			want: []string{
				"general m.large a on-demand <- a",
				"b: general TaintNotTolerated: taint sla=95:NoSchedule is not tolerated",
				"c: general TaintNotTolerated: taint sla=95:NoSchedule is not tolerated",
			},
		},
		"Taint": {
			reason: "pods keep away from pools whose taints they do not tolerate",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Taints = []model.Taint{{Key: "team", Value: "x", Effect: model.NoSchedule}}
				pending(in, 1, 100, 1)
				pending(in, 1, 100, 1, tolerate(model.Toleration{Key: "team", Value: "y"}))
				pending(in, 1, 100, 1, tolerate(model.Toleration{Key: "team", Value: "x", Effect: model.NoExecute}))
				pending(in, 1, 100, 1, tolerate(model.Toleration{Key: "team", Value: "x"}))
			},
			want: []string{
				"general m.large a on-demand <- d",
				"a: general TaintNotTolerated: taint team=x:NoSchedule is not tolerated",
				"b: general TaintNotTolerated: taint team=x:NoSchedule is not tolerated",
				"c: general TaintNotTolerated: taint team=x:NoSchedule is not tolerated",
			},
		},
		"SoftTaints": {
			reason: "PreferNoSchedule and startup taints keep nobody away",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Taints = []model.Taint{{Key: "soft", Effect: model.PreferNoSchedule}}
				s.Pools[0].StartupTaints = []model.Taint{{Key: "cni", Effect: model.NoSchedule}}
				pending(in, 1, 100, 1)
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"HostPorts": {
			reason: "pods that want one port need a node each; other addresses and ports can share",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 100, 1, hostPort(80, ""))
				pending(in, 1, 100, 1, hostPort(81, ""))
			},
			want: []string{"general m.large a on-demand <- ac", "general m.large a on-demand <- b"},
		},
		"HostPortAddresses": {
			reason: "two addresses can hold one port, the wildcard cannot join them",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, hostPort(80, "10.0.0.1"))
				pending(in, 1, 100, 1, hostPort(80, "10.0.0.2"))
				pending(in, 1, 100, 1, hostPort(80, "0.0.0.0"))
			},
			want: []string{"general m.large a on-demand <- ab", "general m.large a on-demand <- c"},
		},
		"HostPortOfDaemon": {
			reason: "a DaemonSet holds the port on every node",
			setup: func(in *Input, s *model.Snapshot) {
				s.Daemons = []model.DaemonSet{{Name: "d", Spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}}}
				pending(in, 1, 100, 1, hostPort(80, ""))
			},
			want: []string{"a: general RequirementsConflict: DaemonSets hold its host port /TCP/80 on every node"},
		},
		"Unsupported": {
			reason: "pods are never placed where the scheduler would refuse them",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 100, 1, func(s *model.PodSpec) { s.Unsupported = []string{"podAntiAffinity"} })
			},
			want: []string{"a:  Unsupported: required constraint not supported yet: podAntiAffinity"},
		},
		"WeightFirst": {
			reason: "the heavier pool takes the pod though the lighter one is cheaper",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Weight = 10
				s.Pools = append(s.Pools, model.Pool{Name: "spot", Requirements: []model.Requirement{require(constraint.LabelCapacityType, model.In, "spot")}})
				pending(in, 1, 100, 1)
				pending(in, 1, 100, 1, selector(constraint.LabelCapacityType, "spot"))
			},
			want: []string{"general m.large a on-demand <- a", "spot a.large a spot <- b"},
		},
		"EqualWeightsCompete": {
			reason: "pools of one weight compete on cost",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools = append(s.Pools, model.Pool{Name: "spot", Requirements: []model.Requirement{require(constraint.LabelCapacityType, model.In, "spot")}})
				pending(in, 1, 100, 1)
			},
			want: []string{"spot a.large a spot <- a"},
		},
		"LimitFallsThrough": {
			reason: "what the heavier pool's limit leaves out goes to the lighter pool",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Weight, s.Pools[0].Limits = 10, model.Resources{"cpu": 6000}
				s.Pools[0].Usage = model.Resources{"cpu": 3000}
				s.Pools = append(s.Pools, model.Pool{Name: "spot", Requirements: []model.Requirement{require(constraint.LabelCapacityType, model.In, "spot"), require(constraint.LabelArch, model.In, "amd64")}})
				pending(in, 2, 2000, 1)
			},
			want: []string{"general m.large a on-demand <- a", "spot m.large a spot <- b"},
		},
		"LimitOfNodes": {
			reason: "the nodes limit counts nodes, so one larger node serves all",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Limits, s.Pools[0].Usage = model.Resources{"nodes": 3}, model.Resources{"nodes": 2}
				pending(in, 5, 2000, 1)
			},
			want: []string{"general m.2xlarge a on-demand <- abcd", "e: general LimitReached: limit leaves 0 nodes, smallest fitting instance type has 1 nodes"},
		},
		"NotReady": {
			reason: "a pool without its node class launches nothing",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].NotReady = `NodeClass "default" not found`
				pending(in, 1, 100, 1)
			},
			want: []string{`a: general PoolNotReady: NodeClass "default" not found`},
		},
		"NoPools": {
			reason: "without pools there is one reason for all",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools = nil
				pending(in, 1, 100, 1)
			},
			want: []string{"a:  NoPools: there is no NodePool"},
		},
		"SoldOut": {
			reason: "offerings marked unavailable are not planned",
			setup: func(in *Input, s *model.Snapshot) {
				for t := range s.Catalogs[0].Types {
					for o := range s.Catalogs[0].Types[t].Offerings {
						s.Catalogs[0].Types[t].Offerings[o].Available = false
					}
				}
				pending(in, 1, 4000, 1)
			},
			want: []string{"a: general NoCapacity: all 4 offerings that fit are sold out for now"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, effort := range []int{0, DefaultEffort} {
				in := Input{Snapshot: smallCluster(), Effort: effort}
				tc.setup(&in, in.Snapshot)
				slices.Sort(tc.want)
				plan, _ := Solve(in)
				if diff := cmp.Diff(tc.want, outline(in.Snapshot, &plan)); diff != "" {
					t.Errorf("%s (effort %d)\n%s", tc.reason, effort, diff)
				}
				for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
					t.Error(v)
				}
			}
		})
	}
}
