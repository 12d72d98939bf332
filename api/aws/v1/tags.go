package v1

// Tags on EC2 resources. Instances are found again by TagNodeClaim and by
// TagClusterPrefix with the cluster's name. TagLaunch is the token of the request
// that started an instance: the instances of one request carry the same tags, so
// that those of a request for several claims get TagNodeClaim afterwards.
const (
	TagName          = "Name"
	TagNodePool      = "karpenter.sh/nodepool"
	TagNodeClaim     = "karpenter.sh/nodeclaim"
	TagLaunch        = "spokeshave.dev/launch"
	TagEC2NodeClass  = LabelEC2NodeClass
	TagEKSCluster    = "eks:eks-cluster-name"
	TagClusterPrefix = "kubernetes.io/cluster/" // + cluster name; the value is TagClusterOwned
	TagClusterOwned  = "owned"
)

// LaunchTemplatePrefix starts the name of every launch template that the controller makes.
const LaunchTemplatePrefix = Group + "/"
