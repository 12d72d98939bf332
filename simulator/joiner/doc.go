// Package joiner plays what boots on EC2 instances: it finds running instances
// of a cluster through the EC2 API, reads their user data as the image would,
// and after a boot delay registers a Node with labels, taints and capacity as
// kubelet does. It also plays the cloud controller manager, which deletes the
// Nodes of instances that are terminated.
//
// It knows EC2 by its API alone, so it runs against any endpoint that speaks
// it. Whoever plays kubelet from there on (KWOK) finds its nodes by the label
// spokeshave.dev/kwok=true.
//
// Not here: pods, heartbeats, readiness.
package joiner
