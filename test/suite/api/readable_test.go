package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	kjson "sigs.k8s.io/json"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// extremes are values that a schema may let pass and a Go type may not read.
func extremes() []any {
	return []any{
		"", "x", "-1", "Never", "1e1.5", "1e-99999999", "1e99999999", "16E3311111336", "5%", "100000000000000000000%",
		"99999999999999999999h", "9999999999h", "0s", "1h0s", "1.5h", "1d", "2026-01-01t00:00:00z", "2026-01-01T00:00:00+0000", "2026-02-30T00:00:00Z", "99999-01-01T00:00:00Z",
		int64(0), int64(-1), int64(1) << 31, -int64(1)<<31 - 1, int64(math.MaxInt64), int64(math.MinInt64), 1e30, 0.5, true,
	}
}

// readable: whatever the API server lets pass can be read, because the client reads a list of
// objects as a whole: one that it cannot read would hide all.
func readable(t *testing.T, client dynamic.Interface) {
	files, err := filepath.Glob("../../../api/*/v1/testdata/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d manifests: %v", len(files), err)
	}
	passed := 0
	tried := map[string]bool{}
	for _, file := range files {
		whole := load(t, file)
		whole.SetName("readable-" + whole.GetName())
		api := client.Resource(resources[whole.GetKind()])
		stored, err := api.Create(t.Context(), whole, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, root := range []string{"spec", "status"} {
			tree, _ := whole.Object[root].(map[string]any)
			for path, set := range leaves(tree, root) {
				for i, value := range extremes() {
					key := fmt.Sprint(whole.GetKind(), path, i)
					if tried[key] {
						continue
					}
					tried[key] = true
					undo := set(value)
					var got *unstructured.Unstructured
					if root == "spec" {
						got, err = api.Create(t.Context(), renamed(whole), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
					} else {
						o := stored.DeepCopy()
						o.Object["status"] = runtime.DeepCopyJSONValue(whole.Object["status"])
						got, err = api.UpdateStatus(t.Context(), o, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
					}
					undo()
					switch {
					case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
						continue
					case err != nil:
						t.Fatalf("%s: %s = %v: %v", filepath.Base(file), path, value, err)
					}
					passed++
					if err := read(got); err != nil {
						t.Errorf("%s: the API server lets %s be %#v, which cannot be read: %v", whole.GetKind(), path, value, err)
					}
				}
			}
		}
	}
	if passed < 300 {
		t.Errorf("the API server let only %d values pass", passed)
	}
	t.Logf("%d values tried, %d passed", len(tried), passed)
}

// renamed returns the object under a name that is not taken.
func renamed(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	out.SetName(o.GetName() + "-2")
	return out
}

// read reads an object as clients do.
func read(o *unstructured.Unstructured) error {
	raw, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	into := map[string]any{"NodePool": &karpv1.NodePool{}, "NodeClaim": &karpv1.NodeClaim{}, "EC2NodeClass": &awsv1.EC2NodeClass{}}[o.GetKind()]
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
}

// leaves returns a setter for each value in a tree that is neither a mapping nor a list, by its path, and
// for one element of each list. A setter returns what sets the value back.
func leaves(tree any, path string) map[string]func(any) func() {
	out := map[string]func(any) func(){}
	add := func(at string, before any, set func(any)) {
		switch before.(type) {
		case map[string]any, []any:
			maps.Copy(out, leaves(before, at))
		default:
			out[at] = func(v any) func() {
				set(v)
				return func() { set(before) }
			}
		}
	}
	switch n := tree.(type) {
	case map[string]any:
		for key := range n {
			add(path+"."+key, n[key], func(v any) { n[key] = v })
		}
	case []any:
		for i := range n {
			add(path+"[]", n[i], func(v any) { n[i] = v })
		}
	}
	return out
}
