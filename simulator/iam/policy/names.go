package policy

import "strings"

// Names are an account's names, which stand for variables in a policy's text. IAM knows no
// such variables: they are those of examples/iam/controller-policy.json.
type Names struct {
	Partition string // ${partition}: aws, aws-cn, aws-us-gov
	Region    string // ${region}
	Account   string // ${account}: twelve digits
	Cluster   string // ${cluster}
	Queue     string // ${queue}
	NodeRole  string // ${node_role}: an ARN
}

// Fill returns a policy's text with the names in place of the variables.
func (n *Names) Fill(text string) string {
	return strings.NewReplacer("${partition}", n.Partition, "${region}", n.Region, "${account}", n.Account,
		"${cluster}", n.Cluster, "${queue}", n.Queue, "${node_role}", n.NodeRole).Replace(text)
}
