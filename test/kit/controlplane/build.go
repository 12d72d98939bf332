package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"spokeshave.dev/test/kit/filelock"
)

// CacheEnv names the environment variable that moves the cache of built
// programs; without it they live in the user's cache directory.
const CacheEnv = "SPOKESHAVE_CACHE"

// Binaries are the paths of the built programs, all in Dir.
type Binaries struct {
	Dir                   string `json:"dir"`
	Etcd                  string `json:"etcd"`
	KubeAPIServer         string `json:"kubeAPIServer"`
	KubeControllerManager string `json:"kubeControllerManager"`
	KubeScheduler         string `json:"kubeScheduler"`
	Kubectl               string `json:"kubectl"`
	Kwok                  string `json:"kwok"`
	Helm                  string `json:"helm"`
	KubernetesVersion     string `json:"kubernetesVersion"` // such as v1.36.3
}

func binariesIn(dir string, r recipe) Binaries {
	at := func(name string) string { return filepath.Join(dir, name) }
	return Binaries{
		Dir: dir, Etcd: at("etcd"), KubeAPIServer: at("kube-apiserver"),
		KubeControllerManager: at("kube-controller-manager"), KubeScheduler: at("kube-scheduler"),
		Kubectl: at("kubectl"), Kwok: at("kwok"), Helm: at("helm"), KubernetesVersion: r.kubernetes,
	}
}

// Build makes the control plane's programs, unless the cache already holds
// them, and reports each one on progress. It must run inside the source tree,
// which names the versions. The first time takes some eight minutes on two
// cores and downloads Go modules; processes that build at once wait for one
// another, and an interrupted build resumes at the program it was at.
func Build(ctx context.Context, progress io.Writer) (Binaries, error) {
	r, err := loadRecipe(".")
	if err != nil {
		return Binaries{}, err
	}
	cache, err := cacheDir()
	if err != nil {
		return Binaries{}, err
	}
	bins := binariesIn(filepath.Join(cache, r.key), r)
	if len(missing(bins.Dir, r.targets)) == 0 {
		return bins, nil
	}
	if err := os.MkdirAll(bins.Dir, 0o755); err != nil {
		return Binaries{}, fmt.Errorf("build the control plane: %w", err)
	}
	release, err := filelock.Take(ctx, filepath.Join(bins.Dir, "lock"), progress)
	if err != nil {
		return Binaries{}, fmt.Errorf("build the control plane: %w", err)
	}
	defer release()
	todo := missing(bins.Dir, r.targets)
	if len(todo) == len(r.targets) {
		say(progress, "building a Kubernetes %s control plane from source, once (about eight minutes on two cores)\n", r.kubernetes)
	}
	defer fetchAhead(ctx, r.targets, todo)()
	for i, t := range r.targets {
		if !todo[t.name] {
			continue
		}
		done := Step(ctx, progress, fmt.Sprintf("building %s (%d of %d)", t.name, i+1, len(r.targets)))
		err := buildOne(ctx, t, bins.Dir)
		done(err)
		if err != nil {
			return Binaries{}, fmt.Errorf("build %s: %w", t.name, err)
		}
	}
	return bins, nil
}

// fetchAhead downloads what later programs need while earlier ones compile, and
// returns what ends it. Its errors are the builds' own, and told there.
func fetchAhead(ctx context.Context, targets []target, todo map[string]bool) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, t := range targets {
			if todo[t.name] && ctx.Err() == nil {
				_ = goCommand(ctx, t, "list", "-deps", "-f", "{{if false}}{{end}}", t.pkg).Run()
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// cacheDir returns the folder that holds one folder of programs per version.
func cacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache directory (set %s to choose one): %w", CacheEnv, err)
	}
	return filepath.Join(dir, "spokeshave", "controlplane"), nil
}

// missing returns the names of the programs that dir does not hold. A program
// that is there is whole: it arrives by rename.
func missing(dir string, targets []target) map[string]bool {
	names := map[string]bool{}
	for _, t := range targets {
		if info, err := os.Stat(filepath.Join(dir, t.name)); err != nil || !info.Mode().IsRegular() {
			names[t.name] = true
		}
	}
	return names
}

// buildOne compiles t into dir under a temporary name and renames it.
func buildOne(ctx context.Context, t target, dir string) error {
	partial := filepath.Join(dir, "."+t.name+".partial")
	var ldflags strings.Builder
	ldflags.WriteString("-s -w")
	for _, stamp := range t.ldflags {
		ldflags.WriteString(" -X " + stamp)
	}
	// No -trimpath: the product's own build goes without, and what both import
	// is compiled once.
	cmd := goCommand(ctx, t, "build", "-mod=readonly", "-buildvcs=false",
		"-ldflags", ldflags.String(), "-o", partial, t.pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: %w", ctx.Err())
		}
		return fmt.Errorf("%w\n%s", err, lastLines(out.String(), 15))
	}
	return os.Rename(partial, filepath.Join(dir, t.name))
}

// goCommand is a go command about t's module.
func goCommand(ctx context.Context, t target, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.module
	// The environment of the product's own build must not leak in: a test of the
	// core may run with GOOS=wasip1, a workspace may be active.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=",
		"GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	// Interrupted rather than killed, the go command takes its compilers along.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// lastLines returns the end of a program's output.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
