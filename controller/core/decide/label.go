package decide

// The node labels that a decision reads by name (Karpenter v1 and Kubernetes
// well-known labels).
const (
	taintDisrupted    = "karpenter.sh/disrupted"
	labelFamily       = "karpenter.k8s.aws/instance-family"
	labelZone         = "topology.kubernetes.io/zone"
	labelZoneID       = "topology.k8s.aws/zone-id"
	labelCapacityType = "karpenter.sh/capacity-type"
)
