package v1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/api/internal/wiretest"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func suite() wiretest.Suite {
	return wiretest.Suite{Dir: "testdata", Kinds: map[string]runtime.Object{
		"NodePool":  &karpv1.NodePool{},
		"NodeClaim": &karpv1.NodeClaim{},
	}}
}

func TestWireFormat(t *testing.T) {
	suite().Run(t)
}

// TestUnknownFieldsAreErrors guards the strictness that TestWireFormat relies on.
func TestUnknownFieldsAreErrors(t *testing.T) {
	err := yaml.UnmarshalStrict([]byte("spec: {template: {spec: {requirement: []}}}"), &karpv1.NodePool{})
	if err == nil || !strings.Contains(err.Error(), "requirement") {
		t.Errorf("got %v, want an error that names the field", err)
	}
}

func TestAddToScheme(t *testing.T) {
	s := runtime.NewScheme()
	if err := karpv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"NodePool", "NodePoolList", "NodeClaim", "NodeClaimList"} {
		if _, err := s.New(karpv1.GroupVersion.WithKind(kind)); err != nil {
			t.Error(err)
		}
	}
}

func TestNormalizeLabel(t *testing.T) {
	known := map[string]bool{}
	for _, key := range karpv1.WellKnownLabels() {
		known[key] = true
	}
	for _, old := range []string{
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"beta.kubernetes.io/instance-type", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
	} {
		if got := karpv1.NormalizeLabel(old); got == old || !known[got] {
			t.Errorf("%s: got %s, want a well-known label", old, got)
		}
	}
	if got := karpv1.NormalizeLabel("example.com/zone"); got != "example.com/zone" {
		t.Errorf("an ordinary label became %s", got)
	}
}
