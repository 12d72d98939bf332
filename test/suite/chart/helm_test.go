// Package chart checks charts/spokeshave, and that of its definitions, with Helm itself: what it renders
// under which values, what its schema refuses, how large it is, and that a real
// API server takes it.
package chart

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"spokeshave.dev/test/kit/controlplane"
)

const (
	chartDir = "../../../charts/spokeshave"
	// crdsDir is the chart of the custom resource definitions alone.
	crdsDir = "../../../charts/spokeshave-crds"
	// image is what somebody sets who installs from a checkout.
	image = "controller.image.repository=registry.example/controller"
)

// helm runs Helm, built from source like the rest of the control plane.
type helm struct {
	binary string
	env    []string
}

// newHelm returns a Helm that shares no state with the user's own.
func newHelm(t *testing.T) helm {
	t.Helper()
	bins, err := controlplane.Build(t.Context(), t.Output())
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("no Helm to test with: %v", err)
	}
	watch(t, chartDir)
	watch(t, crdsDir)
	dir := t.TempDir()
	return helm{binary: bins.Helm, env: []string{
		"HELM_CACHE_HOME=" + dir, "HELM_CONFIG_HOME=" + dir, "HELM_DATA_HOME=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH"),
	}}
}

// watch looks at every file of the chart. Helm reads them in a process of its
// own, where Go's test cache would not see that they have changed.
func watch(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (h helm) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, h.binary, args...)
	cmd.Env = h.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", errors.New(strings.TrimSpace(stderr.String() + stdout.String()))
	}
	return stdout.String(), nil
}

func (h helm) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.run(t.Context(), args...)
	if err != nil {
		t.Fatalf("helm %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// values writes a values file; the cluster's name is set unless the text is empty.
func values(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// render returns what the chart makes of values, as release "spokeshave" in
// namespace "system".
func (h helm) render(t *testing.T, text string) objects {
	t.Helper()
	out := h.must(t, "template", "spokeshave", chartDir, "--namespace", "system",
		"--set", "settings.clusterName=test", "--values", "testdata/image.yaml", "--values", values(t, text))
	return parse(t, out)
}

// objects are rendered objects by kind/name, or kind/namespace/name where the
// namespace is not the release's.
type objects map[string]*unstructured.Unstructured

func parse(t *testing.T, text string) objects {
	t.Helper()
	out := objects{}
	dec := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		u := &unstructured.Unstructured{}
		if err := dec.Decode(&u.Object); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("what Helm rendered cannot be read: %v", err)
		}
		if len(u.Object) == 0 {
			continue
		}
		key := u.GetKind() + "/" + u.GetName()
		if ns := u.GetNamespace(); ns != "" && ns != "system" {
			key = u.GetKind() + "/" + ns + "/" + u.GetName()
		}
		if out[key] != nil {
			t.Errorf("%s is rendered twice", key)
		}
		out[key] = u
	}
}

// get decodes an object into its Go type.
func get[T any](t *testing.T, objs objects, key string) *T {
	t.Helper()
	u := objs[key]
	if u == nil {
		t.Fatalf("%s is not rendered", key)
	}
	into := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, into, true); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return into
}
