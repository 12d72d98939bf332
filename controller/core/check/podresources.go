package check

import "spokeshave.dev/controller/core/model"

// addRequests adds what a pod requests (Resource Management for Pods and
// Containers, "How Pods with resource requests are scheduled"). Every pod takes
// one of the node's pod slots at least.
func addRequests(sum model.Resources, pod *model.PodSpec) {
	for name, n := range pod.Requests {
		sum[name] += n
	}
	if n := pod.Requests[model.PodSlots]; n < 1 {
		sum[model.PodSlots] += 1 - n
	}
}

// portsOverlap says whether two pods cannot share a node because of their host
// ports: port, protocol and address must differ in one at least (Pod API,
// "hostPort"). No protocol means TCP; no address, like 0.0.0.0, means all addresses.
func portsOverlap(a, b []model.HostPort) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Port == y.Port && protocolOf(x) == protocolOf(y) && (x.IP == y.IP || everyAddress(x) || everyAddress(y)) {
				return true
			}
		}
	}
	return false
}

func protocolOf(p model.HostPort) string {
	if p.Protocol == "" {
		return "TCP"
	}
	return p.Protocol
}

func everyAddress(p model.HostPort) bool { return p.IP == "" || p.IP == "0.0.0.0" }

// provePortsFree proves that no two of the pods, and none of the pods and
// those that hold ports already, use the same host port.
func (p *proof) provePortsFree(where string, pods []*model.PodSpec, inUse [][]model.HostPort) {
	for _, pod := range pods {
		if len(pod.HostPorts) == 0 {
			continue
		}
		for _, portsInUse := range inUse {
			if portsOverlap(pod.HostPorts, portsInUse) {
				p.reject(Ports, where, "host port %d is used twice", pod.HostPorts[0].Port)
			}
		}
		inUse = append(inUse, pod.HostPorts)
	}
}
