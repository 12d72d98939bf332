package garbage

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// TestUntagged: instances of a launch for several claims carry the name of theirs some seconds later. One
// that can be of no claim is billed at once, since nothing else counts it.
func TestUntagged(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	claim := func(pool, id string) karpv1.NodeClaim {
		c := karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{karpv1.LabelNodePool: pool}}}
		c.Status.ProviderID = id
		return c
	}
	for name, tc := range map[string]struct {
		reason       string
		age          time.Duration
		claims       []karpv1.NodeClaim
		billed, leak bool
	}{
		"of a claim that waits":   {"the claim's reservation counts it", time.Second, []karpv1.NodeClaim{claim("general", "i-0"), claim("general", "")}, false, false},
		"of a claim that is gone": {"the claims of its NodePool have others", time.Second, []karpv1.NodeClaim{claim("general", "i-0"), claim("other", "")}, true, false},
		"of no claim at all":      {"its NodePool has no claims", time.Second, nil, true, false},
		"of a claim that has it":  {"the claim counts it", time.Second, []karpv1.NodeClaim{claim("general", "i-1")}, false, false},
		"old":                     {"its tag would be there by now", grace + time.Second, []karpv1.NodeClaim{claim("general", "")}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Collector{Clock: testclock.NewFakeClock(now)}
			in := provider.Instance{ProviderID: "i-1", NodePool: "general", LaunchTime: now.Add(-tc.age)}
			leaks, billed, err := c.unclaimed(t.Context(), []provider.Instance{in}, tc.claims)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]bool{tc.billed, tc.leak}, []bool{len(billed) == 1, len(leaks) == 1}); diff != "" {
				t.Errorf("%s: billed and ended (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
