// Package karpenter makes a local cluster look as Karpenter 1.14.1 left it: a Helm
// release of its name with its custom resource definitions and pods that do nothing, the
// objects that a running Karpenter wrote, and instances like its own in the EC2
// simulator.
//
// recorded holds the objects and instances. They are data, not code: nothing of Karpenter
// runs.
package karpenter
