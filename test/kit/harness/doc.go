// Package harness runs the whole product on this machine, for the demo and the
// end-to-end tests: a real control plane, ec2sim with its joiner in place of
// EC2, the chart installed with Helm, and the controller as the chart starts it.
//
// The chart's pods are scheduled to tainted system nodes and run there as KWOK
// runs pods, which is to say that nothing happens in them. The controller that
// works is a process of this machine. It gets the command line and environment
// that the chart's Deployment says, and the token of the chart's own
// ServiceAccount: a flag that does not exist or a permission that is missing
// shows here.
//
// Not here: how to build and start Kubernetes (test/kit/controlplane), and what is
// tried on it (cmd/demo, test/suite/e2e).
package harness
