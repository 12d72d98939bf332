package adoption

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// roll changes a template's label, a taint, the template of static nodes, and a class's user
// data and AMI alias. The adopted nodes of these pools are replaced, each pool's at its
// budget's pace, and no others.
func roll(t *testing.T, before *state) {
	for _, change := range []struct {
		object client.Object
		name   string
		patch  string
	}{
		{&karpv1.NodePool{}, "general", `{"spec":{"disruption":{"budgets":[{"nodes":"2"}]},"template":{"metadata":{"labels":{"wave":"2"}}}}}`},
		{&karpv1.NodePool{}, "taints", `{"spec":{"template":{"spec":{"taints":[{"key":"only","value":"y","effect":"NoSchedule"}]}}}}`},
		{&karpv1.NodePool{}, "static", `{"spec":{"template":{"metadata":{"labels":{"wave":"2"}}}}}`},
		{&awsv1.EC2NodeClass{}, "kubelet", `{"spec":{"userData":"#!/bin/sh\necho changed\n","amiSelectorTerms":[{"alias":"al2023@v20260601"}]}}`},
	} {
		change.object.SetName(change.name)
		if err := stack.Client.Patch(t.Context(), change.object, client.RawPatch("application/merge-patch+json", []byte(change.patch))); err != nil {
			t.Fatal(err)
		}
	}
	rolling := []string{"general", "taints", "static", "otherclass"}
	left := before.of(rolling...)
	if len(left) != 8 {
		t.Fatalf("%d adopted nodes have to roll, want 8: %v", len(left), left)
	}
	// A search that a busy machine makes slow is followed by a long pause.
	wait(t, "the adopted nodes to roll", 7*time.Minute, func(ctx context.Context) (string, bool) {
		var claims karpv1.NodeClaimList
		if err := stack.Client.List(ctx, &claims); err != nil {
			return err.Error(), false
		}
		var old []string
		leaving, ready := map[string]int{}, true
		for i := range claims.Items {
			c := &claims.Items[i]
			pool := c.Labels[karpv1.LabelNodePool]
			if slices.Contains(left, c.Name) {
				old = append(old, fmt.Sprintf("%s (%s)", c.Name, told(c)))
			}
			if !c.DeletionTimestamp.IsZero() {
				leaving[pool]++
			}
			if slices.Contains(rolling, pool) {
				ready = ready && meta.IsStatusConditionTrue(c.Status.Conditions, karpv1.ConditionReady)
			}
		}
		for pool, n := range leaving {
			most := 1 // 10 % of at most 10 nodes
			if pool == "general" {
				most = 2
			}
			if n > most || !slices.Contains(rolling, pool) {
				t.Errorf("%d nodes of pool %s leave at a time", n, pool)
			}
		}
		return strings.Join(old, "\n"), len(old) == 0 && ready
	})
	for _, name := range slices.Sorted(maps.Keys(before.claims)) {
		err := stack.Client.Get(t.Context(), client.ObjectKey{Name: name}, &karpv1.NodeClaim{})
		if gone := client.IgnoreNotFound(err) == nil && err != nil; gone != slices.Contains(left, name) {
			t.Errorf("claim %s: %v", name, err)
		}
	}
	pinned(t)
	wait(t, "the pods to run again", time.Minute, stack.Running("default", map[string]string{"app": "web"}, 12))
}

// pinned: the new node of the class has an image of the release that its alias names.
func pinned(t *testing.T) {
	t.Helper()
	class := &awsv1.EC2NodeClass{}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: "kubelet"}, class); err != nil {
		t.Fatal(err)
	}
	var claims karpv1.NodeClaimList
	if err := stack.Client.List(t.Context(), &claims, client.MatchingLabels{karpv1.LabelNodePool: "otherclass"}); err != nil {
		t.Fatal(err)
	}
	for i := range claims.Items {
		c := &claims.Items[i]
		at := slices.IndexFunc(class.Status.AMIs, func(a awsv1.AMI) bool { return a.ID == c.Status.ImageID })
		if at < 0 || !strings.HasSuffix(class.Status.AMIs[at].Name, "-v20260601") {
			t.Errorf("claim %s has image %s, its class has %v", c.Name, c.Status.ImageID, class.Status.AMIs)
		}
	}
}

// of are the claims of the pools: Karpenter names claims after them.
func (s *state) of(pools ...string) []string {
	var out []string
	for name := range s.claims {
		if pool, _, ok := strings.Cut(name, "-"); ok && slices.Contains(pools, pool) {
			out = append(out, name)
		}
	}
	return out
}
