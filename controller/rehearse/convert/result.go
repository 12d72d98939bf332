package convert

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Options say what documents do not.
type Options struct {
	// Cluster is the name of the EKS cluster, "" where the documents name it.
	Cluster string
	// Role is the name of the nodes' IAM role, for groups whose documents do not name one.
	Role string
}

// Result is what node groups become. NodePools and classes have unique names; groups that
// launch in the same way share a class.
type Result struct {
	NodePools []*karpv1.NodePool    `json:"nodePools"`
	Classes   []*awsv1.EC2NodeClass `json:"nodeClasses"`
	Notes     []Note                `json:"notes"`
}

// Note is what a person should know about a group.
type Note struct {
	// Group is the name of the group as its document has it.
	Group string `json:"group"`
	// NodePool is what the group becomes.
	NodePool string `json:"nodePool"`
	// Field is the field of the group's document.
	Field string `json:"field"`
	Text  string `json:"text"`
	// Needed says that somebody has to do something before the NodePool can launch nodes.
	Needed bool `json:"needed"`
}

// Needed returns the notes that need somebody.
func (r *Result) Needed() []Note {
	var out []Note
	for _, note := range r.Notes {
		if note.Needed {
			out = append(out, note)
		}
	}
	return out
}
