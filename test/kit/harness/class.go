package harness

import "context"

// DefaultClass is the manifest of an EC2NodeClass named default that ec2sim can launch
// from. Another document may follow it.
const DefaultClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-spokeshave
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: spokeshave}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: spokeshave}}]
---
`

// Quickstart applies an EC2NodeClass and the NodePool of examples/quickstart: the objects
// that the pages of docs/tasks begin with.
func (s *Stack) Quickstart(ctx context.Context) error {
	pool, err := s.Source("examples/quickstart/nodepool.yaml")
	if err != nil {
		return err
	}
	return s.Apply(ctx, append([]byte(DefaultClass), pool...))
}
