package actuate

import (
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

// FuzzMergePlannedPods: whatever is in the annotation, pods that are added are in the next one,
// which is sorted, lists each once and does not change when they are added again.
func FuzzMergePlannedPods(f *testing.F) {
	f.Add(`["shop/web-1","shop/web-2"]`, "shop/web-3")
	f.Add(`["b","a","a"]`, "a")
	f.Add(`{"a":1}`, "a")
	f.Add(`[1`, "\xff")
	f.Add(``, "")
	f.Fuzz(func(t *testing.T, text, pod string) {
		if !utf8.ValidString(pod) {
			return // the API server has no such name
		}
		got, err := mergePlannedPods(text, []string{pod})
		if err != nil {
			t.Fatal(err)
		}
		var pods []string
		if err := json.Unmarshal([]byte(got), &pods); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		before := plannedOf(text)
		for _, p := range append(before, pod) {
			if !slices.Contains(pods, p) {
				t.Errorf("%q is not in %s", p, got)
			}
		}
		if !slices.IsSorted(pods) || len(slices.Compact(slices.Clone(pods))) != len(pods) || len(pods) > len(before)+1 {
			t.Errorf("%s after %s", got, text)
		}
		if again, err := mergePlannedPods(got, []string{pod}); err != nil || again != got {
			t.Errorf("%s became %s: %v", got, again, err)
		}
	})
}

// plannedOf are the pods of the annotation as package lower reads them.
func plannedOf(text string) []string {
	return lower.PlannedPods(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{karpv1.AnnotationPlannedPods: text}}})
}

// FuzzAddCounts: whatever is in the annotation, what is left after places are added to it, or
// taken from it, is what package lower reads from it, with that difference, and is read again.
func FuzzAddCounts(f *testing.F) {
	f.Add(`{"ReplicaSet/shop/web":3}`, "ReplicaSet/shop/web", int32(2))
	f.Add(`{"a":9223372036854775807}`, "a", int32(1))
	f.Add(`{"a":1}`, "a", int32(-2147483648))
	f.Add(`{"a":-9223372036854775808}`, "a", int32(-1))
	f.Add(`{"a":1.5,"b":1}`, "b", int32(1))
	f.Add(`null`, "a", int32(1))
	f.Fuzz(func(t *testing.T, text, owner string, n int32) {
		before := countsOf(text)
		got := addCounts(before, map[string]int{owner: int(n)})
		for o, have := range got {
			if have <= 0 || o != owner && have != before[o] {
				t.Errorf("%d of %q, %d before", have, o, before[o])
			}
		}
		if have := got[owner]; n >= 0 && have < before[owner] || n <= 0 && have > before[owner] {
			t.Errorf("%d and %d are %d", before[owner], n, have)
		}
		annotations := map[string]string{}
		if err := setAnnounced(annotations, got); err != nil {
			t.Fatal(err)
		}
		if again := countsOf(annotations[karpv1.AnnotationAnnouncedPods]); utf8.ValidString(owner) && len(again) != len(got) {
			t.Errorf("%v were written, %v are read", got, again)
		}
	})
}

// countsOf are the announced pods of the annotation as package lower reads them.
func countsOf(text string) map[string]int {
	return lower.AnnouncedPods(&karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{karpv1.AnnotationAnnouncedPods: text}}})
}
