// Package author implements what `spokeshave policy` offers to authors of policies: it
// checks, tests, measures and compares policies with the controller's own loader,
// engines and decision code, without a cluster.
//
// Policies are sent to a cluster in controller/kube/remote.
package author
