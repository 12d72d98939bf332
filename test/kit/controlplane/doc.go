// Package controlplane runs a real Kubernetes control plane on this machine,
// for the demo and the end-to-end tests.
//
// Everything is built from Go modules at exact versions (build/go.mod), so a
// fresh machine needs Go and nothing else: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, Helm, and
// KWOK, which plays the kubelet. [Build] makes the programs once per version
// and caches them; [Start] brings a cluster up in seconds; [ForTest] does both
// for a test.
//
// KWOK plays every node that carries [NodeLabel]. What such a node and its pods
// go through is written down in stages/: nodes keep the capacity their creator
// gave them, pods run at once, evicted pods go away.
//
// To move to another version, change it in build/go.mod (and in the replace
// block, which follows k8s.io/kubernetes) and run go mod tidy there; the cache
// key follows. Modules that the product uses too stand there at the product's
// versions, and are compiled once for both (TestShared).
//
// Not here: EC2 and the program that turns instances into nodes (cmd/ec2sim),
// the chart, and the controller. Linux and macOS only; on Linux the programs
// also end when their parent is killed.
package controlplane
