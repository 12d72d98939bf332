package v1_test

import (
	"slices"
	"testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestNodePoolHash(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*karpv1.NodePool)
		same   bool
	}{
		"nothing":         {"the hash is a function of the pool", func(*karpv1.NodePool) {}, true},
		"requirements":    {"requirements are compared with the node", func(p *karpv1.NodePool) { p.Spec.Template.Spec.Requirements = nil }, true},
		"weight":          {"weight shapes no node", func(p *karpv1.NodePool) { p.Spec.Weight = nil }, true},
		"limits":          {"limits shape no node", func(p *karpv1.NodePool) { p.Spec.Limits = nil }, true},
		"budgets":         {"budgets shape no node", func(p *karpv1.NodePool) { p.Spec.Disruption.Budgets = nil }, true},
		"taint order":     {"taints are a set", func(p *karpv1.NodePool) { slices.Reverse(p.Spec.Template.Spec.Taints) }, true},
		"duration text":   {"30m is 1800s", func(p *karpv1.NodePool) { p.Spec.Template.Spec.ExpireAfter = "1800s" }, true},
		"label":           {"labels are on the node", func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Labels["a"] = "b" }, false},
		"annotation":      {"annotations are on the node", func(p *karpv1.NodePool) { p.Spec.Template.Metadata.Annotations["a"] = "b" }, false},
		"taint":           {"taints are on the node", func(p *karpv1.NodePool) { p.Spec.Template.Spec.Taints[0].Value = "x" }, false},
		"startup taint":   {"so are startup taints", func(p *karpv1.NodePool) { p.Spec.Template.Spec.StartupTaints = nil }, false},
		"node class":      {"another class, another node", func(p *karpv1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "x" }, false},
		"expiry":          {"claims carry their expiry", func(p *karpv1.NodePool) { p.Spec.Template.Spec.ExpireAfter = karpv1.Never }, false},
		"grace period":    {"and their grace period", func(p *karpv1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = nil }, false},
		"grace period to": {"whatever its length", func(p *karpv1.NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = &karpv1.Duration{} }, false},
	}
	read := func() *karpv1.NodePool {
		obj, _ := suite().Decode(t, "nodepool-general-purpose.yaml")
		return obj.(*karpv1.NodePool)
	}
	hash := func(p *karpv1.NodePool) string {
		t.Helper()
		sum, err := p.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	before := hash(read())
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pool := read()
			original := pool.DeepCopy()
			tc.change(pool)
			if got := hash(pool) == before; got != tc.same {
				t.Errorf("%s: hash unchanged is %v, want %v", tc.reason, got, tc.same)
			}
			if hash(original) != before {
				t.Error("changing a pool changed its deep copy")
			}
		})
	}
}
