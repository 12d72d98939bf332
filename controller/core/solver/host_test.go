package solver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// standby is a node of the small cluster with 4 CPUs.
func standby(name string, state model.NodeState) model.Node {
	return model.Node{
		Name: name, State: state, InstanceType: "m.xlarge", Zone: "a", CapacityType: model.OnDemand,
		Allocatable: model.Resources{"cpu": 4000, "memory": 16 * gib, "pods": 29},
	}
}

// occupy binds a pod to the first node.
func occupy(s *model.Snapshot, cpu int64, change ...func(*model.Pod, *model.PodSpec)) {
	spec := model.PodSpec{Namespace: "ns", Requests: model.Resources{"cpu": cpu, "pods": 1}}
	pod := model.Pod{Namespace: "ns", Name: "bound", Spec: int32(len(s.Specs)), Node: 0}
	for _, f := range change {
		f(&pod, &spec)
	}
	s.Specs = append(s.Specs, spec)
	s.Pods = append(s.Pods, pod)
}

func TestExistingNodes(t *testing.T) {
	cases := map[string]struct {
		reason string
		setup  func(in *Input, s *model.Snapshot)
		want   []string
	}{
		"FirstTheNodesThere": {
			reason: "room that is paid for is used before nodes are launched, settled nodes first",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("coming", model.InFlight), standby("there", model.Initialized)}
				s.Nodes[0].Pool, s.Nodes[1].Pool = 0, 0
				pending(in, 3, 3000, 1)
			},
			want: []string{"coming <- b", "general m.xlarge a on-demand <- c", "there <- a"},
		},
		"BoundPodsTakeRoom": {
			reason: "what runs on a node is deducted",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				occupy(s, 2500)
				pending(in, 1, 2000, 1)
			},
			want: []string{"general m.large a on-demand <- b"},
		},
		"DeletingTakesNothing": {
			reason: "a node on its way out takes no pods, and its own move",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("leaving", model.Deleting)}
				pending(in, 1, 2000, 1)
				s.Pods[0].Node = 0
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"MovingPodsTakeNoRoom": {
			reason: "a pod that is to be placed does not count where it is",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				pending(in, 1, 4000, 1)
				s.Pods[0].Node = 0
			},
			want: []string{"there <- a"},
		},
		"EphemeralTaints": {
			reason: "taints of the start go away by themselves, while a node starts",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("starting", model.Registered)}
				s.Pools[0].StartupTaints = []model.Taint{{Key: "cni", Effect: model.NoSchedule}}
				s.Nodes[0].Taints = []model.Taint{
					{Key: "karpenter.sh/unregistered", Effect: model.NoExecute},
					{Key: "node.kubernetes.io/not-ready", Effect: model.NoSchedule},
					{Key: "cni", Effect: model.NoSchedule},
				}
				pending(in, 1, 2000, 1)
			},
			want: []string{"starting <- a"},
		},
		"RealTaints": {
			reason: "on a node that has started they are meant",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("broken", model.Initialized), standby("disrupted", model.Registered)}
				s.Nodes[0].Taints = []model.Taint{{Key: "node.kubernetes.io/not-ready", Effect: model.NoSchedule}}
				s.Nodes[1].Taints = []model.Taint{{Key: "karpenter.sh/disrupted", Effect: model.NoSchedule}}
				pending(in, 1, 2000, 1)
			},
			want: []string{"general m.large a on-demand <- a"},
		},
		"Labels": {
			reason: "a node in flight has the labels of its instance type, and every node its name",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("claim", model.InFlight), standby("named", model.Unmanaged)}
				s.Nodes[1].Pool = -1
				pending(in, 1, 1000, 1, selector("karpenter.k8s.aws/instance-size", "xlarge", constraint.LabelPool, "general"))
				pending(in, 1, 1000, 1, selector(constraint.LabelHostname, "named"))
			},
			want: []string{"claim <- a", "named <- b"},
		},
		"DaemonsToCome": {
			reason: "a DaemonSet whose pod is not there yet will still take its room",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				s.Daemons = []model.DaemonSet{{Namespace: "ns", Name: "agent", Spec: model.PodSpec{Requests: model.Resources{"cpu": 1000}}}}
				pending(in, 1, 3500, 1)
			},
			want: []string{"general m.2xlarge a on-demand <- a"},
		},
		"DaemonsThere": {
			reason: "one that runs already is not counted twice",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				s.Daemons = []model.DaemonSet{{Namespace: "ns", Name: "agent", Spec: model.PodSpec{Requests: model.Resources{"cpu": 1000}}}}
				occupy(s, 1000, func(p *model.Pod, _ *model.PodSpec) { p.Daemon, p.Name = true, "agent-x7k2p" })
				pending(in, 1, 3000, 1)
			},
			want: []string{"there <- b"},
		},
		"HostPorts": {
			reason: "ports of bound pods are taken",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { hostPort(80, "")(spec) })
				pending(in, 1, 1000, 1, hostPort(80, "10.0.0.1"))
			},
			want: []string{"general m.large a on-demand <- b"},
		},
		"UrgentFirst": {
			reason: "room that is there goes to the pod of higher priority",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				s.Pools = nil
				pending(in, 1, 4000, 1)
				pending(in, 1, 3000, 1, priority(10))
			},
			want: []string{"a:  NoPools: there is no NodePool", "there <- b"},
		},
		"Overdrawn": {
			reason: "a resource that is overdrawn matters only to pods that ask for it",
			setup: func(in *Input, s *model.Snapshot) {
				s.Nodes = []model.Node{standby("there", model.Initialized)}
				occupy(s, 100, func(_ *model.Pod, spec *model.PodSpec) { spec.Requests["memory"] = 20 * gib })
				pending(in, 1, 3000, 0)
				pending(in, 1, 100, 1)
			},
			want: []string{"general m.large a on-demand <- c", "there <- b"},
		},
	}
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
		})
	}
}
