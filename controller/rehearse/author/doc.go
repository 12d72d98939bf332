// Package author is what `spokeshave policy` does for the people who write
// policies: it checks, asks, measures and compares policies with the
// controller's own loader, engines and decision, and no cluster.
//
// Not here: sending policies to a cluster (controller/kube/remote).
package author
