package harness

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Policy makes the ConfigMap of a policy from a folder of the source tree: its
// policy.yaml, Rego sources and data, and the module if the folder is a Go
// program. A config that is not nil replaces the one in policy.yaml.
func (s *Stack) Policy(ctx context.Context, name, folder string, config map[string]any) (*corev1.ConfigMap, error) {
	dir := filepath.Join(s.root, filepath.FromSlash(folder))
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data:       map[string]string{},
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w", folder, err)
	}
	program := false
	for _, e := range entries {
		program = program || e.Name() == "main.go"
		if e.Name() != "policy.yaml" && e.Name() != "data.json" && filepath.Ext(e.Name()) != ".rego" {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read policy %s: %w", folder, err)
		}
		cm.Data[e.Name()] = string(body)
	}
	if program {
		module, err := buildGuest(ctx, dir)
		if err != nil {
			return nil, err
		}
		cm.BinaryData = map[string][]byte{"module.wasm.gz": module}
	}
	if config != nil {
		if cm.Data["policy.yaml"], err = withConfig(cm.Data["policy.yaml"], config); err != nil {
			return nil, fmt.Errorf("configure policy %s: %w", folder, err)
		}
	}
	return cm, nil
}

// buildGuest compiles a policy written in Go with the standard toolchain.
func buildGuest(ctx context.Context, dir string) ([]byte, error) {
	out, err := os.CreateTemp("", "guest-*.wasm")
	if err != nil {
		return nil, fmt.Errorf("build policy: %w", err)
	}
	defer func() { _ = os.Remove(out.Name()) }()
	_ = out.Close()
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out.Name(), ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build policy %s: %w\n%s", filepath.Base(dir), err, said)
	}
	module, err := os.ReadFile(out.Name())
	if err != nil {
		return nil, fmt.Errorf("build policy %s: %w", filepath.Base(dir), err)
	}
	var packed bytes.Buffer
	zw, err := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a ConfigMap holds a megabyte
	if err != nil {
		return nil, fmt.Errorf("pack policy %s: %w", filepath.Base(dir), err)
	}
	if _, err := zw.Write(module); err != nil {
		return nil, fmt.Errorf("pack policy %s: %w", filepath.Base(dir), err)
	}
	if err := zw.Close(); err != nil {
		return nil, fmt.Errorf("pack policy %s: %w", filepath.Base(dir), err)
	}
	return packed.Bytes(), nil
}

func withConfig(policy string, config map[string]any) (string, error) {
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(policy), &parsed); err != nil {
		return "", err
	}
	parsed["config"] = config
	out, err := yaml.Marshal(parsed)
	return string(out), err
}

// ApplyPolicy applies a policy's ConfigMap.
func (s *Stack) ApplyPolicy(ctx context.Context, cm *corev1.ConfigMap) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cm)
	if err != nil {
		return fmt.Errorf("apply policy %s: %w", cm.Name, err)
	}
	return s.ApplyObject(ctx, &unstructured.Unstructured{Object: content})
}

// PolicyStatus is the text of the status ConfigMap about a policy, "" while
// there is none.
func (s *Stack) PolicyStatus(ctx context.Context, name string) (string, error) {
	list := &corev1.ConfigMapList{}
	if err := s.Client.List(ctx, list); err != nil {
		return "", fmt.Errorf("read the policies' status: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Namespace != Namespace || list.Items[i].Name != "spokeshave-policy-status" {
			continue
		}
		var found []string
		for key, value := range list.Items[i].Data {
			if strings.Contains(key, name) || strings.Contains(value, name) {
				found = append(found, key+": "+value)
			}
		}
		return strings.Join(found, "\n"), nil
	}
	return "", nil
}

// JSON is v as indented JSON, for messages.
func JSON(v any) string {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(out)
}
