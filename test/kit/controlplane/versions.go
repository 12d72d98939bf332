package controlplane

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// productModule names the module whose tree holds the build recipe.
const productModule = "spokeshave.dev"

// target is one program to build.
type target struct {
	name    string   // file name in the cache
	module  string   // folder of the Go module that builds it
	pkg     string   // main package
	ldflags []string // version stamps
}

// recipe says what to build and under which key the result is cached.
type recipe struct {
	kubernetes string // such as v1.36.3
	targets    []target
	key        string
}

// loadRecipe reads the versions to build from the modules under build/. It
// looks for the product's tree from dir upwards.
func loadRecipe(dir string) (recipe, error) {
	root, err := findRoot(dir)
	if err != nil {
		return recipe{}, err
	}
	build := filepath.Join(root, "test", "kit", "controlplane", "build")
	kube, err := requiredVersion(filepath.Join(build, "go.mod"), "k8s.io/kubernetes")
	if err != nil {
		return recipe{}, err
	}
	helm, err := requiredVersion(filepath.Join(build, "go.mod"), "helm.sh/helm/v3")
	if err != nil {
		return recipe{}, err
	}
	r := recipe{kubernetes: kube, targets: targets(build, kube, helm)}
	r.key, err = cacheKey(build, r)
	return r, err
}

// targets lists the programs. Unstamped, the Kubernetes ones report v0.0.0,
// which kubectl and Helm cannot work with.
func targets(build, kube, helm string) []target {
	major, minor := majorMinor(kube)
	stampKube := []string{
		"k8s.io/component-base/version.gitVersion=" + kube,
		"k8s.io/component-base/version.gitMajor=" + major,
		"k8s.io/component-base/version.gitMinor=" + minor,
		"k8s.io/client-go/pkg/version.gitVersion=" + kube,
	}
	stampHelm := []string{"helm.sh/helm/v3/internal/version.version=" + helm}
	for _, pkg := range []string{"chartutil", "lint/rules"} {
		stampHelm = append(stampHelm,
			"helm.sh/helm/v3/pkg/"+pkg+".k8sVersionMajor="+major,
			"helm.sh/helm/v3/pkg/"+pkg+".k8sVersionMinor="+minor)
	}
	cmd := func(name string) target {
		return target{name: name, module: build, pkg: "k8s.io/kubernetes/cmd/" + name, ldflags: stampKube}
	}
	return []target{
		{name: "etcd", module: build, pkg: "go.etcd.io/etcd/server/v3"},
		cmd("kube-apiserver"),
		cmd("kube-controller-manager"),
		cmd("kube-scheduler"),
		cmd("kubectl"),
		{name: "kwok", module: build, pkg: "sigs.k8s.io/kwok/cmd/kwok"},
		{name: "helm", module: build, pkg: "helm.sh/helm/v3/cmd/helm", ldflags: stampHelm},
	}
}

// cacheKey changes whenever a module version, a checksum, a stamp or the
// platform does.
func cacheKey(build string, r recipe) (string, error) {
	h := sha256.New()
	for _, t := range r.targets {
		say(h, "%s %s %s\n", t.name, t.pkg, t.ldflags)
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(build, file))
		if err != nil {
			return "", fmt.Errorf("read control-plane versions: %w", err)
		}
		h.Write(data)
	}
	say(h, "%s %s\n", runtime.GOOS, runtime.GOARCH)
	return r.kubernetes + "-" + hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// findRoot returns the nearest folder, from dir upwards, that holds the
// product's go.mod.
func findRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the %s source tree: %w", productModule, err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		data, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && slices.Contains(strings.Fields(firstDirective(data)), productModule) {
			return at, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("find the %s source tree: %w", productModule, err)
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no %s source tree at or above %s: the control plane is built from it; run from inside the repository", productModule, dir)
		}
	}
}

// firstDirective returns the first line of a go.mod that is not a comment.
func firstDirective(data []byte) string {
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && !strings.HasPrefix(line, "//") {
			return line
		}
	}
	return ""
}

// requiredVersion returns the version of module that the go.mod in file
// requires.
func requiredVersion(file, module string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read control-plane versions: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(f) >= 2 && f[0] == module && strings.HasPrefix(f[1], "v") {
			return f[1], nil
		}
	}
	return "", fmt.Errorf("read control-plane versions: %s requires no %s", file, module)
}

// majorMinor splits v1.36.3 into 1 and 36.
func majorMinor(version string) (major, minor string) {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return parts[0], "0"
	}
	return parts[0], parts[1]
}
