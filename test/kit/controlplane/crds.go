package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// InstallCRDs applies every CustomResourceDefinition in the YAML files of dir
// (not of its subfolders) and returns when the API server serves them all.
// Doing it again updates them.
func InstallCRDs(ctx context.Context, cfg *rest.Config, dir string) error {
	crds, err := readCRDs(dir)
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	api := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	force := true
	for _, crd := range crds {
		data, err := json.Marshal(crd)
		if err != nil {
			return fmt.Errorf("install CRD %s: %w", crd.GetName(), err)
		}
		opts := metav1.PatchOptions{FieldManager: "spokeshave-controlplane", Force: &force}
		if _, err := api.Patch(ctx, crd.GetName(), types.ApplyPatchType, data, opts); err != nil {
			return fmt.Errorf("install CRD %s: %w", crd.GetName(), err)
		}
	}
	for _, crd := range crds {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			got, err := api.Get(ctx, crd.GetName(), metav1.GetOptions{})
			return err == nil && established(got), err
		})
		if err != nil {
			return fmt.Errorf("wait for CRD %s to be established: %w", crd.GetName(), err)
		}
	}
	return nil
}

// readCRDs reads the definitions in dir. A file that holds none is passed
// over, a folder that holds none is an error.
func readCRDs(dir string) ([]*unstructured.Unstructured, error) {
	var files []string
	for _, ext := range []string{"*.yaml", "*.yml"} {
		found, err := filepath.Glob(filepath.Join(dir, ext))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	var crds []*unstructured.Unstructured
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		dec := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
		for {
			obj := &unstructured.Unstructured{}
			if err := dec.Decode(obj); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, err)
			}
			if obj.GetKind() == "CustomResourceDefinition" {
				crds = append(crds, obj)
			}
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("no CustomResourceDefinition in the YAML files of %s", dir)
	}
	return crds, nil
}

// established reports whether the API server serves the definition.
func established(crd *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "Established" && m["status"] == "True"
	})
}
