// Package api is the parent of the Kubernetes API types, which are in one package per
// group and version. It contains only the go:generate commands for their deep copies
// and for the custom resource definitions that the chart installs.
package api

//go:generate go tool -modfile=../tools/go.mod controller-gen object crd paths=./... output:crd:dir=../charts/spokeshave/files/crds
//go:generate go run -C ../tools ./crdpatch ../charts/spokeshave/files/crds
