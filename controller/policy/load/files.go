package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// FromFiles loads policies from folders (policy.yaml beside the sources; a
// folder without one is searched one level down) and from ConfigMap manifests.
// Any error is the author's to mend: nothing is loaded in part.
func (l *Loader) FromFiles(ctx context.Context, paths ...string) error {
	for _, p := range paths {
		cms, err := read(p)
		if err != nil {
			return err
		}
		for _, cm := range cms {
			if cm.Namespace == "" {
				cm.Namespace = l.cfg.Namespace
			}
			if _, err := l.Apply(ctx, cm); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
		}
	}
	return nil
}

func read(p string) ([]*corev1.ConfigMap, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	if !info.IsDir() {
		return readManifest(p)
	}
	if _, err := os.Stat(filepath.Join(p, manifestFile)); err == nil {
		cm, err := Pack(p)
		return []*corev1.ConfigMap{cm}, err
	}
	below, err := filepath.Glob(filepath.Join(p, "*", manifestFile))
	if err != nil {
		return nil, fmt.Errorf("read policies in %s: %w", p, err)
	}
	if len(below) == 0 {
		return nil, fmt.Errorf("%s: neither %s nor a folder with one is in it", p, manifestFile)
	}
	slices.Sort(below)
	out := make([]*corev1.ConfigMap, 0, len(below))
	for _, m := range below {
		cm, err := Pack(filepath.Dir(m))
		if err != nil {
			return nil, err
		}
		out = append(out, cm)
	}
	return out, nil
}

func readManifest(p string) ([]*corev1.ConfigMap, error) {
	text, err := os.ReadFile(p)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	cm := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, cm); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	if cm.Kind != "ConfigMap" || cm.Name == "" {
		return nil, fmt.Errorf("%s: a ConfigMap with a name is expected", p)
	}
	return []*corev1.ConfigMap{cm}, nil
}

// Pack makes the ConfigMap of a policy's folder, named after it: policy.yaml,
// *.rego, data.json, and module.wasm or module.wasm.gz. Other files stay out.
func Pack(dir string) (*corev1.ConfigMap, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: filepath.Base(abs), Labels: map[string]string{karpv1.LabelPolicy: "true"}},
	}
	rego, err := filepath.Glob(filepath.Join(dir, "*.rego"))
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	files := append(rego, filepath.Join(dir, manifestFile), filepath.Join(dir, dataFile))
	for _, f := range files {
		text, err := os.ReadFile(f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("pack %s: %w", dir, err)
		}
		if cm.Data == nil {
			cm.Data = map[string]string{}
		}
		cm.Data[filepath.Base(f)] = string(text)
	}
	for _, name := range []string{moduleFile, moduleGzipFile} {
		module, err := os.ReadFile(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("pack %s: %w", dir, err)
		}
		cm.BinaryData = map[string][]byte{name: module}
	}
	if _, err := ParseConfigMap(cm); err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	return cm, nil
}
