// Package api checks the custom resource definitions against a real API
// server: what users write is accepted, defaulted and kept, and what cannot
// work is refused with a message that says why.
package api

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/apiserver"
)

var resources = map[string]schema.GroupVersionResource{
	"NodePool":     karpv1.GroupVersion.WithResource("nodepools"),
	"NodeClaim":    karpv1.GroupVersion.WithResource("nodeclaims"),
	"EC2NodeClass": awsv1.GroupVersion.WithResource("ec2nodeclasses"),
}

// TestCRDs starts one API server for all the checks below.
func TestCRDs(t *testing.T) {
	cfg := apiserver.Start(t).Config
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("served", func(t *testing.T) { served(t, cfg) })
	t.Run("accepted", func(t *testing.T) { accepted(t, client) })
	t.Run("readable", func(t *testing.T) { readable(t, client) })
	t.Run("refused", func(t *testing.T) { refused(t, client) })
	t.Run("updates", func(t *testing.T) { updates(t, client) })
	t.Run("pruned", func(t *testing.T) { unknownFields(t, client) })
}

// served checks the names that people type.
func served(t *testing.T, cfg *rest.Config) {
	client, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for kind, gvr := range resources {
		list, err := client.ServerResourcesForGroupVersion(gvr.GroupVersion().String())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == gvr.Resource })
		if i < 0 {
			t.Fatalf("%s is not served", gvr)
		}
		got := list.APIResources[i]
		if got.Kind != kind || got.Namespaced || !slices.Contains(got.Categories, "karpenter") {
			t.Errorf("%s: got kind %s, namespaced %v, categories %v", gvr.Resource, got.Kind, got.Namespaced, got.Categories)
		}
		if kind == "EC2NodeClass" && !slices.Equal(got.ShortNames, []string{"ec2nc", "ec2ncs"}) {
			t.Errorf("%s: got short names %v", gvr.Resource, got.ShortNames)
		}
	}
}

// accepted creates every manifest of the API packages and compares what the
// server keeps with what SetDefaults makes of the same manifest.
func accepted(t *testing.T, client dynamic.Interface) {
	files, err := filepath.Glob("../../../api/*/v1/testdata/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("found %d manifests: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			obj := load(t, file)
			obj.SetName("accepted-" + obj.GetName())
			api := client.Resource(resources[obj.GetKind()])
			got, err := api.Create(t.Context(), obj, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				t.Fatal(err)
			}
			if status, ok := obj.Object["status"]; ok {
				got.Object["status"] = status
				opts := metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict}
				if got, err = api.UpdateStatus(t.Context(), got, opts); err != nil {
					t.Fatal(err)
				}
			}
			want, have := typed(t, obj), typed(t, got)
			switch w := want.(type) {
			case *karpv1.NodePool:
				h := have.(*karpv1.NodePool)
				w.SetDefaults()
				compare(t, w.Spec, h.Spec)
				compare(t, w.Status, h.Status)
				manifest, err := w.Hash()
				if err != nil {
					t.Fatal(err)
				}
				kept, err := h.Hash()
				if err != nil || kept != manifest {
					t.Errorf("the hash of what the server keeps is %s (%v), the manifest's is %s", kept, err, manifest)
				}
			case *karpv1.NodeClaim:
				h := have.(*karpv1.NodeClaim)
				w.SetDefaults()
				compare(t, w.Spec, h.Spec)
				compare(t, w.Status, h.Status)
			case *awsv1.EC2NodeClass:
				h := have.(*awsv1.EC2NodeClass)
				w.SetDefaults()
				compare(t, w.Spec, h.Spec)
				compare(t, w.Status, h.Status)
			}
		})
	}
}

// updates checks the rules that compare an object with what it was.
func updates(t *testing.T, client dynamic.Interface) {
	tests := map[string]struct{ reason, file, patch, message string }{
		"claim spec":     {"a claim is one launch", "karpenter/v1/testdata/nodeclaim-launched.yaml", `{spec: {expireAfter: Never}}`, "spec is immutable"},
		"to static":      {"static and dynamic pools do not mix", "karpenter/v1/testdata/nodepool-minimal.yaml", `{spec: {replicas: 1}}`, "cannot change between static"},
		"to dynamic":     {"nor the other way", "karpenter/v1/testdata/nodepool-static.yaml", `{spec: {replicas: null}}`, "cannot change between static"},
		"class kind":     {"another kind is another provider", "karpenter/v1/testdata/nodepool-minimal.yaml", `{spec: {template: {spec: {nodeClassRef: {kind: Other}}}}}`, "nodeClassRef.kind is immutable"},
		"class group":    {"so is another group", "karpenter/v1/testdata/nodepool-minimal.yaml", `{spec: {template: {spec: {nodeClassRef: {group: example.com}}}}}`, "nodeClassRef.group is immutable"},
		"class name":     {"another class is drift", "karpenter/v1/testdata/nodepool-minimal.yaml", `{spec: {template: {spec: {nodeClassRef: {name: other}}}}}`, ""},
		"replica number": {"static pools scale", "karpenter/v1/testdata/nodepool-static.yaml", `{spec: {replicas: 3}}`, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			obj := load(t, "../../../api/"+tc.file)
			obj.SetName("update-" + strings.ReplaceAll(name, " ", "-"))
			api := client.Resource(resources[obj.GetKind()])
			got, err := api.Create(t.Context(), obj, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			merge(got.Object, parse(t, tc.patch))
			_, err = api.Update(t.Context(), got, metav1.UpdateOptions{})
			expect(t, tc.reason, err, tc.message)
		})
	}
}

// unknownFields: a misspelt field is an error under strict validation, and
// kubelet settings that the schema does not list are kept.
func unknownFields(t *testing.T, client dynamic.Interface) {
	obj := load(t, "../../../api/karpenter/v1/testdata/nodepool-minimal.yaml")
	merge(obj.Object, parse(t, `{metadata: {name: unknown}, spec: {template: {spec: {requirement: []}}}}`))
	_, err := client.Resource(resources["NodePool"]).Create(t.Context(), obj, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	expect(t, "a misspelt field is named", err, `unknown field "spec.template.spec.requirement"`)

	class := load(t, "../../../api/aws/v1/testdata/al2023.yaml")
	merge(class.Object, parse(t, `{metadata: {name: unknown}, spec: {kubelet: {cpuManagerPolicy: static}}}`))
	got, err := client.Resource(resources["EC2NodeClass"]).Create(t.Context(), class, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		t.Fatal(err)
	}
	if v, _, err := unstructured.NestedString(got.Object, "spec", "kubelet", "cpuManagerPolicy"); err != nil || v != "static" {
		t.Errorf("kubelet.cpuManagerPolicy is %q (%v), want it kept", v, err)
	}
}

// expect fails unless err is a refusal that contains message; an empty message expects none.
func expect(t *testing.T, reason string, err error, message string) {
	t.Helper()
	switch {
	case message == "" && err != nil:
		t.Errorf("%s: refused: %v", reason, err)
	case message != "" && err == nil:
		t.Errorf("%s: accepted, want a refusal with %q", reason, message)
	case message != "" && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err):
		t.Errorf("%s: got %v, want a refusal with %q", reason, err, message)
	case message != "" && !strings.Contains(err.Error(), message):
		t.Errorf("%s: refused with\n%v\nwant a message with\n%s", reason, err, message)
	}
}

func load(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: parse(t, string(raw))}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil {
		t.Fatal(err)
	}
	return u.Object
}

// merge applies a JSON merge patch.
func merge(into, patch map[string]any) {
	for k, v := range patch {
		sub, isMap := v.(map[string]any)
		old, wasMap := into[k].(map[string]any)
		switch {
		case v == nil:
			delete(into, k)
		case isMap && wasMap:
			merge(old, sub)
		default:
			into[k] = v
		}
	}
}

func typed(t *testing.T, u *unstructured.Unstructured) runtime.Object {
	t.Helper()
	obj := map[string]runtime.Object{
		"NodePool": &karpv1.NodePool{}, "NodeClaim": &karpv1.NodeClaim{}, "EC2NodeClass": &awsv1.EC2NodeClass{},
	}[u.GetKind()]
	data, err := u.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func compare(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server keeps something else (-manifest with defaults +server):\n%s", diff)
	}
}
