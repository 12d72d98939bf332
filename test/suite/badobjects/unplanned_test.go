package badobjects

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/test/kit/eventually"
)

// options returns the options written on a claim.
func (b *bench) options(t *testing.T, name string) string {
	t.Helper()
	claim := &karpv1.NodeClaim{}
	if err := b.client.Get(t.Context(), client.ObjectKey{Name: name}, claim); err != nil {
		t.Fatal(err)
	}
	return claim.Annotations[karpv1.AnnotationLaunch]
}

// claimsSeen waits until the watches have seen so many claims.
func (b *bench) claimsSeen(t *testing.T, want int) {
	t.Helper()
	eventually.Ok(t, "the claims are seen", func() (string, bool) {
		view, err := b.view.Snapshot(t.Context(), lower.Rollout{})
		if err != nil {
			return err.Error(), false
		}
		return "", len(view.Unplanned) == want
	})
}

// TestClaimThatCannotBeAnnotated. Actor: somebody who makes a NodeClaim by hand, with so many
// annotations that no other fits. Expected: its event says that the API server refuses its options,
// and other claims and the pods of others get theirs in the same round.
func TestClaimThatCannotBeAnnotated(t *testing.T) {
	b := newBench(t)
	full := claim("full", "general", small)
	full.Annotations = map[string]string{"example.com/notes": strings.Repeat("a", 256<<10-len("example.com/notes"))}
	for _, c := range []*karpv1.NodeClaim{full, claim("plain", "general", small)} {
		if err := b.client.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	b.claimsSeen(t, 2)
	b.pod(t, "good", "6")
	b.round(t, 1)
	if diff := cmp.Diff(map[string]string{"good": "general"}, b.planned(t)); diff != "" {
		t.Errorf("planned (-want +got)\n%s", diff)
	}
	if b.options(t, "plain") == "" || b.options(t, "full") != "" {
		t.Errorf("options of the claims: plain %q, full %q", b.options(t, "plain"), b.options(t, "full"))
	}
	if all := strings.Join(b.told(), "\n"); !strings.Contains(all, "the API server refuses its options") {
		t.Errorf("events:\n%s", all)
	}
}

// TestUnplannedClaimsCountEachOther: what the launch of a claim made by hand reserves, volumes
// included, counts in the decision about the next one of the same round.
func TestUnplannedClaimsCountEachOther(t *testing.T) {
	var inFlight []float64
	b := newBench(t, &hooked{hook: policy.HookCeiling, ceiling: func(in *policy.CeilingInput) {
		for _, s := range in.Scopes {
			if s.Scope == "cluster" && len(in.Launches) > 0 {
				inFlight = append(inFlight, s.InFlightUSD)
			}
		}
	}})
	for _, name := range []string{"a", "b"} {
		if err := b.client.Create(t.Context(), claim(name, "general", small)); err != nil {
			t.Fatal(err)
		}
	}
	b.claimsSeen(t, 2)
	b.round(t, 0)
	// An instance for 0.1 and 20 GiB of gp3.
	if diff := cmp.Diff([]float64{0, 0.102191}, inFlight); diff != "" {
		t.Errorf("in flight at the review of each claim (-want +got)\n%s", diff)
	}
}
