package lower

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestRivals gives one node to several NodeClaims: which claim gets it does not depend
// on the order of claims or nodes.
func TestRivals(t *testing.T) {
	node := func(name, provider string) *corev1.Node {
		return parse[corev1.Node](t, `{metadata: {name: `+name+`}, spec: {providerID: `+provider+`}, status: {allocatable: {cpu: "1"}}}`)
	}
	for name, tc := range map[string]struct {
		reason string
		nodes  []*corev1.Node
		claims []*karpv1.NodeClaim
		want   map[string]string // claims by node
	}{
		"by name": {
			reason: "both name the node, neither its instance: the first by name",
			nodes:  []*corev1.Node{node("ip-2", `"aws:///za/i-1"`)},
			claims: []*karpv1.NodeClaim{claim(t, "a", `{status: {nodeName: ip-2}}`), claim(t, "b", `{status: {nodeName: ip-2}}`)},
			want:   map[string]string{"ip-2": "a"},
		},
		"by instance": {
			reason: "the claim of the instance comes before one that names the node",
			nodes:  []*corev1.Node{node("ip-2", `"aws:///za/i-1"`)},
			claims: []*karpv1.NodeClaim{claim(t, "a", `{status: {nodeName: ip-2, providerID: "aws:///za/i-0"}}`), claim(t, "b", `{status: {providerID: "aws:///za/i-1"}}`)},
			want:   map[string]string{"ip-2": "b"},
		},
		"one instance, two nodes": {
			reason: "an instance that registered again under another name: the first node by name",
			nodes:  []*corev1.Node{node("ip-1", `"aws:///za/i-1"`), node("ip-2", `"aws:///za/i-1"`)},
			claims: []*karpv1.NodeClaim{claim(t, "a", `{status: {providerID: "aws:///za/i-1"}}`)},
			want:   map[string]string{"ip-1": "a", "ip-2": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Time: noon, Nodes: tc.nodes, NodeClaims: tc.claims}
			first, warned := Build(in)
			got := map[string]string{}
			for i := range first.Nodes {
				if n := &first.Nodes[i]; tc.want[n.Name] == n.Claim {
					got[n.Name] = n.Claim
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			in.Nodes, in.NodeClaims = slices.Clone(tc.nodes), slices.Clone(tc.claims)
			slices.Reverse(in.Nodes)
			slices.Reverse(in.NodeClaims)
			other, also := Build(in)
			if diff := cmp.Diff(first, other); diff != "" {
				t.Errorf("another order gives another snapshot\n%s", diff)
			}
			if diff := cmp.Diff(warned, also); diff != "" {
				t.Errorf("another order gives other warnings\n%s", diff)
			}
		})
	}
}
