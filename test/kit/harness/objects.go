package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Source reads a file of the source tree.
func (s *Stack) Source(name string) ([]byte, error) {
	body, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return body, nil
}

// Apply applies manifests server-side, as kubectl apply --server-side does.
// Objects without a namespace that need one go to default.
func (s *Stack) Apply(ctx context.Context, manifests []byte) error {
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := dec.Decode(&o.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read manifest: %w", err)
		}
		if len(o.Object) == 0 {
			continue
		}
		if err := s.ApplyObject(ctx, o); err != nil {
			return err
		}
	}
}

// ApplyObject applies one object.
func (s *Stack) ApplyObject(ctx context.Context, o *unstructured.Unstructured) error {
	namespaced, err := s.Client.IsObjectNamespaced(o)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	if namespaced && o.GetNamespace() == "" {
		o.SetNamespace(corev1.NamespaceDefault)
	}
	err = s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("harness"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// Scale sets a Deployment's replicas.
func (s *Stack) Scale(ctx context.Context, namespace, name string, replicas int) error {
	d := &appsv1.Deployment{}
	d.Namespace, d.Name = namespace, name
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	if err := s.Client.Patch(ctx, d, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("scale deployment %s: %w", name, err)
	}
	return nil
}

// Pods are a namespace's pods that match the labels and are not on their way
// out.
func (s *Stack) Pods(ctx context.Context, namespace string, labels map[string]string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	if err := s.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels(labels)); err != nil {
		return nil, fmt.Errorf("list pods in %s: %w", namespace, err)
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }), nil
}

// Running checks that exactly want pods exist and run.
func (s *Stack) Running(namespace string, labels map[string]string, want int) Check {
	return func(ctx context.Context) (string, bool) {
		pods, err := s.Pods(ctx, namespace, labels)
		if err != nil {
			return err.Error(), false
		}
		running := 0
		for i := range pods {
			if pods[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		return fmt.Sprintf("%d of %d pods run, %d exist", running, want, len(pods)), running == want && len(pods) == want
	}
}
