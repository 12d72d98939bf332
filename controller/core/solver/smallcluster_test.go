package solver

import (
	"fmt"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/test/kit/instancetype"
)

// smallCluster has one family of three sizes and a type for ARM, in two zones, spot at
// three tenths of the price in zone a and at half in zone b.
func smallCluster() *model.Snapshot {
	return &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(
			machine("m.large", "amd64", 2, 8, 0.1), machine("m.xlarge", "amd64", 4, 16, 0.2),
			machine("m.2xlarge", "amd64", 8, 32, 0.4), machine("a.large", "arm64", 2, 8, 0.08),
		)},
		Pools: []model.Pool{{Name: "general", NodeClass: "default", Requirements: []model.Requirement{
			require(constraint.LabelCapacityType, model.In, "on-demand"), require(constraint.LabelArch, model.In, "amd64"),
		}}},
	}
}

func machine(name, arch string, cpu, memory int64, price float64) model.InstanceType {
	family, size, _ := strings.Cut(name, ".")
	t := instancetype.New(name, cpu*1000, memory, 29)
	if arch == "arm64" {
		t = instancetype.ARM64(t)
	}
	t.Labels["karpenter.k8s.aws/instance-family"], t.Labels["karpenter.k8s.aws/instance-size"] = family, size
	t.Labels["karpenter.k8s.aws/instance-cpu"] = fmt.Sprint(cpu)
	for zone, spot := range map[string]float64{"a": 0.3, "b": 0.5} {
		t.Offerings = append(t.Offerings, instancetype.OnDemand(zone, model.PriceOf(price)), instancetype.Spot(zone, model.PriceOf(price*spot)))
		for i := range t.Offerings {
			t.Offerings[i].ZoneID = "az-" + t.Offerings[i].Zone
		}
	}
	return t
}

func require(key string, op model.Operator, values ...string) model.Requirement {
	return model.Requirement{Key: key, Operator: op, Values: values}
}

// pending adds n pods of a spec; cpu in millicores, memory in GiB.
func pending(in *Input, n int, cpu, memory int64, change ...func(*model.PodSpec)) {
	s := in.Snapshot
	spec := model.PodSpec{Namespace: "ns", Requests: model.Resources{"cpu": cpu, "memory": memory * gib, "pods": 1}}
	for _, f := range change {
		f(&spec)
	}
	s.Specs = append(s.Specs, spec)
	for range n {
		in.Pods = append(in.Pods, int32(len(s.Pods)))
		s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: "pod-" + string(rune('a'+len(s.Pods))), Spec: int32(len(s.Specs) - 1), Node: -1})
	}
}

func selector(pairs ...string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.NodeSelector = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			s.NodeSelector[pairs[i]] = pairs[i+1]
		}
	}
}

func withAffinity(terms ...model.Term) func(*model.PodSpec) {
	return func(s *model.PodSpec) { s.Affinity = terms }
}

func tolerate(t ...model.Toleration) func(*model.PodSpec) {
	return func(s *model.PodSpec) { s.Tolerations = t }
}

func hostPort(port int32, ip string) func(*model.PodSpec) {
	return func(s *model.PodSpec) {
		s.HostPorts = append(s.HostPorts, model.HostPort{Port: port, IP: ip, Protocol: "TCP"})
	}
}

func priority(p int32) func(*model.PodSpec) { return func(s *model.PodSpec) { s.Priority = p } }
