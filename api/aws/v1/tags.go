package v1

// Tags on EC2 resources. Instances are found again by TagNodeClaim and by
// TagClusterPrefix with the cluster's name.
const (
	TagName          = "Name"
	TagNodePool      = "karpenter.sh/nodepool"
	TagNodeClaim     = "karpenter.sh/nodeclaim"
	TagEC2NodeClass  = LabelEC2NodeClass
	TagEKSCluster    = "eks:eks-cluster-name"
	TagClusterPrefix = "kubernetes.io/cluster/" // + cluster name; the value is TagClusterOwned
	TagClusterOwned  = "owned"
)

// LaunchTemplatePrefix starts the name of every launch template that the controller makes.
const LaunchTemplatePrefix = Group + "/"
