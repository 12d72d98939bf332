package load

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Gather makes a ConfigMap of a policy's folder, named after the folder. It contains
// policy.yaml, *.rego, data.json, and module.wasm or module.wasm.gz, and no other
// files. Gather does not check the contents; ParseConfigMap does.
func Gather(dir string) (*corev1.ConfigMap, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	cm := newConfigMap(filepath.Base(abs))
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
	return cm, nil
}

// GatherModule is Gather with a module in place of the code in the folder.
func GatherModule(dir string, module []byte) (*corev1.ConfigMap, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	settings, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	cm := newConfigMap(filepath.Base(abs))
	cm.Data = map[string]string{manifestFile: string(settings)}
	cm.BinaryData = map[string][]byte{moduleFile: module}
	return cm, Compress(cm)
}

// Compress replaces the module of a policy by its compressed form.
func Compress(cm *corev1.ConfigMap) error {
	module, ok := cm.BinaryData[moduleFile]
	if !ok {
		return nil
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compress %s: %w", moduleFile, err)
	}
	_, err = w.Write(module)
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("compress %s: %w", moduleFile, err)
	}
	delete(cm.BinaryData, moduleFile)
	cm.BinaryData[moduleGzipFile] = out.Bytes()
	return nil
}

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
	}
}
