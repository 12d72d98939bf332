package ec2

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	sim "spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/source"
)

// account is the simulator's unless its configuration names another.
const account = "123456789012"

// karpenterPolicy allows what the policies that Karpenter documents for its controller
// allow, on the same conditions.
// https://karpenter.sh/docs/reference/cloudformation/
//
//go:embed policies/karpenter.json
var karpenterPolicy string

// Policies are the identity-based policies that a controller of Cluster runs under: the one
// that this project publishes (examples/iam), and the one that an adopted cluster has from
// Karpenter.
func Policies(t testing.TB) map[string]*policy.Document {
	t.Helper()
	return PoliciesOf(t, Cluster)
}

// PoliciesOf are the policies of a cluster with another name, whose queue has that name, too.
func PoliciesOf(t testing.TB, cluster string) map[string]*policy.Document {
	t.Helper()
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(root, "examples", "iam", "controller-policy.json"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*policy.Document{"own": parse(t, string(own), cluster), "karpenter": parse(t, karpenterPolicy, cluster)}
}

// Under makes the endpoint refuse what a policy does not allow.
func Under(p *policy.Document) func(*sim.Config) {
	return func(c *sim.Config) { c.Policies = []*policy.Document{p} }
}

// parse reads a policy with the names of the endpoint and of a cluster in place of its variables.
func parse(t testing.TB, text, cluster string) *policy.Document {
	t.Helper()
	names := policy.Names{Partition: "aws", Region: Region, Account: account, Cluster: cluster, Queue: cluster, NodeRole: "arn:aws:iam::" + account + ":role/KarpenterNodeRole-" + cluster}
	out, err := policy.Parse([]byte(names.Fill(text)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
