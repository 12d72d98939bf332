package static

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestDispensable(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	claim := func(name string, age time.Duration) *karpv1.NodeClaim {
		return &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(at.Add(-age))}}
	}
	nodes := []candidate{
		{claim: claim("protected and empty", time.Hour), initialized: true, protected: true},
		{claim: claim("old", 3*time.Hour), initialized: true, pods: 2},
		{claim: claim("busy", time.Hour), initialized: true, pods: 9},
		{claim: claim("young", time.Hour), initialized: true, pods: 2},
		{claim: claim("drifted", 4*time.Hour), initialized: true, drifted: true, pods: 2},
		{claim: claim("empty", 5*time.Hour), initialized: true},
		{claim: claim("starting", time.Minute)},
	}
	var got []string
	for _, c := range deletionOrder(nodes) {
		got = append(got, c.claim.Name)
	}
	want := []string{"starting", "empty", "drifted", "young", "old", "busy", "protected and empty"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
