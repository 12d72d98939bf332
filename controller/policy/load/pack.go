package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

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
