package lower

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/test/kit/instancetype"
)

// noted is a claim with an instance type, and with the annotations.
func noted(name, launch, reserved, bought, disruption, attempt string) *karpv1.NodeClaim {
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{karpv1.LabelNodePool: "general", corev1.LabelInstanceTypeStable: "m.1", corev1.LabelTopologyZone: "a", karpv1.LabelCapacityType: "on-demand"},
		Annotations: map[string]string{
			karpv1.AnnotationLaunch: launch, karpv1.AnnotationReservedUSD: reserved, karpv1.AnnotationBought: bought,
			karpv1.AnnotationDisruption: disruption, karpv1.AnnotationAttempt: attempt,
		},
	}}
	c.Spec.NodeClassRef.Name = "default"
	return c
}

// FuzzAnnotations: whatever somebody writes on NodeClaims, launched or not, a node costs from
// nothing to MaxPrice, and what several cost together is no less than what one costs. The
// snapshot can be written and read again.
func FuzzAnnotations(f *testing.F) {
	const option = `[{"instanceType":"m.1","zone":"a","capacityType":"on-demand","price":70000,"effectivePrice":0.1}]`
	f.Add(option, "0.14", `{"price":1,"effectivePrice":2}`, `{"id":"a","method":"Drifted","nodes":["c"],"started":"2026-03-04T12:00:00Z"}`, `{"request":{}}`, false)
	f.Add(`[{"instanceType":"x","price":-5}]`, "-1", `{"price":-9}`, `{"removed":1e308,"billed":-1}`, `{"request":null}`, true)
	f.Add(option, "1e300", `{"price":9223372036854775807}`, `[]`, `{}`, false)
	f.Add(`[{"instanceType":"x","price":9223372036854775807}]`, "NaN", `{"price":9223372036854775807}`, `{"started":"9999-12-31T23:59:59Z"}`, ``, true)
	f.Add(`[{"instanceType":"x","zone":"b","price":0}]`, "0x1p-2", ``, ``, ``, false)
	f.Add(option, "1", `{}`, `{"started":"2026-03-04T12:00:00+24:00"}`, ``, true)
	f.Add(option, "1", `{}`, `{"started":"9999-12-31T23:59:59-01:00"}`, ``, true)
	f.Add(`0`, "0.014", `{"price":1}`, ``, `{"request":{}}`, false)
	f.Fuzz(func(t *testing.T, launch, reserved, bought, disruption, attempt string, launched bool) {
		var claims []*karpv1.NodeClaim
		for _, name := range []string{"c", "d", "e"} {
			c := noted(name, launch, reserved, bought, disruption, attempt)
			if launched {
				c.Status.ProviderID = "aws:///a/i-" + name
			}
			claims = append(claims, c)
		}
		for _, catalogs := range []map[string]model.Catalog{nil, {"default": instancetype.Catalog(instancetype.Of("m.1", nil, instancetype.OnDemand("a", 50_000)))}} {
			s, _ := Build(Inputs{Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), NodeClaims: claims, Catalogs: catalogs})
			checkMoney(t, &s)
			checkSame(t, &s)
		}
	})
}

// checkMoney fails if a node's price is no price, or a sum of prices is less than one of them.
func checkMoney(t *testing.T, s *model.Snapshot) {
	t.Helper()
	most := model.Price(0)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Price < 0 || n.Price > model.MaxPrice || n.Reserved < 0 || n.Reserved > model.MaxPrice {
			t.Errorf("%s costs %d, %d are reserved", n.Name, n.Price, n.Reserved)
		}
		if n.Bought != nil && (n.Bought.Price < 0 || n.Bought.Price > model.MaxPrice) {
			t.Errorf("%s was bought at %d", n.Name, n.Bought.Price)
		}
		most = max(most, n.Cost(), n.Reserved)
	}
	all := spend.Scopes(s)[0]
	if all.Running+all.InFlight < most {
		t.Errorf("%d nodes cost %d and %d, one of them %d", all.Nodes, all.Running, all.InFlight, most)
	}
}

// checkSame fails unless the snapshot is the same after it was written and read.
func checkSame(t *testing.T, s *model.Snapshot) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("the snapshot cannot be written: %v", err)
	}
	var back model.Snapshot
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatalf("the snapshot cannot be read again: %v", err)
	}
	again, err := json.Marshal(&back)
	if diff := cmp.Diff(string(text), string(again)); diff != "" || err != nil {
		t.Errorf("-written +written again\n%s%v", diff, err)
	}
}

// FuzzPodAnnotations: whatever a claim says about its pods, they have names and there are some of
// each owner, and all of them together are not fewer than those of one owner.
func FuzzPodAnnotations(f *testing.F) {
	f.Add(`["shop/web-1","shop/web-2"]`, `{"ReplicaSet/shop/web":3}`, "true", "1h")
	f.Add(`[1]`, `{"a":9223372036854775807,"b":9223372036854775807,"c":-1}`, "-1h", "9999999h")
	f.Add(`null`, `{"a":1.5}`, "false", "")
	f.Add(``, ``, "", "9999-12-31T23:59:59-01:00")
	f.Add(``, ``, "", "0000-01-01T00:00:00+01:00")
	f.Fuzz(func(t *testing.T, planned, announced, protected, times string) {
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{
			karpv1.AnnotationPlannedPods: planned, karpv1.AnnotationAnnouncedPods: announced,
			karpv1.AnnotationDoNotDisrupt: protected, karpv1.AnnotationUndone: times, karpv1.AnnotationAttemptedAt: times,
		}}}
		c.Status.ProviderID = "aws:///a/i-1"
		sum, most := 0, 0
		for owner, n := range AnnouncedPods(c) {
			if n <= 0 || n > announcedMost {
				t.Errorf("%d pods of %q", n, owner)
			}
			sum, most = sum+n, max(most, n)
		}
		if sum < most {
			t.Errorf("%d pods, %d of one owner", sum, most)
		}
		PlannedPods(c)
		now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
		n := Node(nil, c, now)
		if forever := parseDoNotDisrupt(c.Annotations, now).Forever; forever && !n.DoNotDisrupt || protected != "true" && forever {
			t.Errorf("protected is %t by %q", n.DoNotDisrupt, protected)
		}
		checkSame(t, &model.Snapshot{Nodes: []model.Node{n}})
	})
}
