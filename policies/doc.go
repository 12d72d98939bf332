// Package policies is the parent of the policies that Spokeshave ships, one
// folder per policy: policy.yaml, its sources with their tests, and a README.
// It holds nothing but the command that copies them into the chart, which
// installs them as ConfigMaps.
package policies

//go:generate go run -C ../tools ./chartpolicies ../policies ../charts/spokeshave/files/policies
