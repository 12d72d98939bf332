package burst

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeployments(t *testing.T) {
	cases := map[string]struct {
		reason      string
		kind        string
		pods        int
		deployments int // 0 is not checked
	}{
		"web":        {"forty services", "web", 1000, 40},
		"few pods":   {"each Deployment has a pod", "web", 7, 7},
		"diverse":    {"one or two pods each", "diverse", 1000, 0},
		"one":        {"a single pod is a burst too", "diverse", 1, 1},
		"large":      {"the number of services does not grow", "web", 5000, 40},
		"one by one": {"the least that forty can have", "web", 40, 40},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Deployments(tc.kind, tc.pods, 1)
			if err != nil {
				t.Fatal(err)
			}
			pods, names := 0, map[string]bool{}
			for _, d := range got {
				if *d.Spec.Replicas < 1 {
					t.Errorf("%s: %s has %d pods", tc.reason, d.Name, *d.Spec.Replicas)
				}
				pods += int(*d.Spec.Replicas)
				names[d.Name] = true
			}
			if pods != tc.pods || len(names) != len(got) || tc.deployments > 0 && len(got) != tc.deployments {
				t.Errorf("%s: %d pods in %d Deployments with %d names, want %d in %d", tc.reason, pods, len(got), len(names), tc.pods, tc.deployments)
			}
			again, err := Deployments(tc.kind, tc.pods, 1)
			if diff := cmp.Diff(got, again); err != nil || diff != "" {
				t.Errorf("%s: the same seed gives others: %v\n%s", tc.reason, err, diff)
			}
			other, err := Deployments(tc.kind, tc.pods, 2)
			if err != nil || cmp.Equal(got, other) {
				t.Errorf("%s: another seed gives the same: %v", tc.reason, err)
			}
		})
	}
	if _, err := Deployments("other", 1, 1); err == nil {
		t.Error("an unknown mix is accepted")
	}
}
