package load

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/policy"
)

// Names of files in a policy.
const (
	manifestFile   = "policy.yaml"
	moduleFile     = "module.wasm"
	moduleGzipFile = "module.wasm.gz"
	dataFile       = "data.json"
)

// maxModule is the largest size of a decoded module, in bytes. The stored size is
// limited by the ConfigMap.
const maxModule = 8 << 20

// ParseConfigMap returns the policy in a ConfigMap. The error is written for the
// policy's author.
func ParseConfigMap(cm *corev1.ConfigMap) (*policy.Source, error) {
	return parse(cm.Namespace, cm.Name, filesOf(cm))
}

// Hash returns a hash of the ConfigMap's contents, whether or not they are a policy.
func Hash(cm *corev1.ConfigMap) string { return hash(filesOf(cm)) }

func filesOf(cm *corev1.ConfigMap) map[string][]byte {
	files := make(map[string][]byte, len(cm.Data)+len(cm.BinaryData))
	for name, text := range cm.Data {
		files[name] = []byte(text)
	}
	maps.Copy(files, cm.BinaryData)
	return files
}

// parse makes a Source of a policy's files by name.
func parse(namespace, name string, files map[string][]byte) (*policy.Source, error) {
	text, ok := files[manifestFile]
	if !ok {
		return nil, fmt.Errorf("%s is missing; it names the hooks and settings of the policy", manifestFile)
	}
	m, err := parseManifest(text)
	if err != nil {
		return nil, err
	}
	src := &policy.Source{Config: m.Config}
	if src.Info.Match, err = m.match(); err != nil {
		return nil, err
	}
	if src.Limits, err = m.Limits.lower(); err != nil {
		return nil, err
	}
	if err := contents(src, files); err != nil {
		return nil, err
	}
	if src.Info.Engine, err = engineOf(&m, src); err != nil {
		return nil, err
	}
	if err := verify(m.SHA256, src.Module); err != nil {
		return nil, err
	}
	src.Info.Name, src.Info.Namespace = name, namespace
	src.Info.Hooks, src.Info.Mode, src.Info.Priority = m.Hooks, m.Mode, m.Priority
	src.Info.Failure = policy.FailurePolicy(m.Failure)
	src.Info.Hash = hash(files)
	return src, nil
}

// contents sorts the files into module and sources. A file that no engine reads is
// an error, since its name is probably misspelt.
func contents(src *policy.Source, files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch {
		case name == manifestFile:
		case name == moduleFile || name == moduleGzipFile:
			if src.Module != nil {
				return fmt.Errorf("both %s and %s are there; keep one", moduleFile, moduleGzipFile)
			}
			module, err := decode(name, files[name])
			if err != nil {
				return err
			}
			src.Module = module
		case strings.HasSuffix(name, ".rego") || name == dataFile:
			if src.Files == nil {
				src.Files = map[string]string{}
			}
			src.Files[name] = string(files[name])
		default:
			return fmt.Errorf("%s: a policy has %s, *.rego, %s, %s or %s", name, manifestFile, dataFile, moduleFile, moduleGzipFile)
		}
	}
	return nil
}

func decode(name string, stored []byte) ([]byte, error) {
	if name == moduleFile {
		if len(stored) > maxModule {
			return nil, fmt.Errorf("%s: more than %d bytes", name, maxModule)
		}
		return stored, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	module, err := io.ReadAll(io.LimitReader(r, maxModule+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(module) > maxModule {
		return nil, fmt.Errorf("%s: decodes to more than %d bytes", name, maxModule)
	}
	return module, nil
}

func engineOf(m *manifest, src *policy.Source) (string, error) {
	switch {
	case src.Module != nil && src.Files != nil:
		return "", errors.New("the policy has both a module and Rego files; keep one")
	case src.Module == nil && src.Files == nil:
		return "", fmt.Errorf("the policy has no code: add *.rego files, %s or %s", moduleFile, moduleGzipFile)
	}
	inferred := "rego"
	if src.Module != nil {
		inferred = "wasm"
	}
	if m.Engine != "" && m.Engine != inferred {
		return "", fmt.Errorf("policy.yaml: engine %q, but the files are for %s", m.Engine, inferred)
	}
	return inferred, nil
}

func verify(want string, module []byte) error {
	if want == "" {
		return nil
	}
	if module == nil {
		return errors.New("policy.yaml: sha256 is of a module, and there is none")
	}
	sum := sha256.Sum256(module)
	if got := hex.EncodeToString(sum[:]); got != strings.ToLower(want) {
		return fmt.Errorf("policy.yaml: sha256 is %s, but the module's is %s", want, got)
	}
	return nil
}

// hash returns a hash of the names, lengths and bytes of all files.
func hash(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// Writing to a hash never fails.
		_, _ = fmt.Fprintf(sum, "%d:%s%d:", len(name), name, len(files[name]))
		_, _ = sum.Write(files[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}
