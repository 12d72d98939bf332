package harness

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
