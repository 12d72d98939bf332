package harness

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"spokeshave.dev/test/kit/controlplane"
)

// binaries are the paths of our own programs.
type binaries struct {
	controller, ec2sim, cli string
}

// buildProduct builds our own programs. They are kept beside the control
// plane's, so that only what changed is linked anew.
func buildProduct(ctx context.Context, root string) (binaries, error) {
	dir, err := cacheDir()
	if err != nil {
		return binaries{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return binaries{}, fmt.Errorf("make the folder for programs: %w", err)
	}
	// The flags of go run and go test, so that all share one build cache.
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator),
		"./cmd/spokeshave-controller", "./cmd/ec2sim", "./cmd/spokeshave")
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return binaries{}, fmt.Errorf("build the programs: %w\n%s", err, out.Bytes())
	}
	return binaries{
		controller: filepath.Join(dir, "spokeshave-controller"),
		ec2sim:     filepath.Join(dir, "ec2sim"),
		cli:        filepath.Join(dir, "spokeshave"),
	}, nil
}

func cacheDir() (string, error) {
	base := os.Getenv(controlplane.CacheEnv)
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the folder for programs: %w", err)
		}
		base = filepath.Join(cache, "spokeshave")
	}
	return filepath.Join(base, "product"), nil
}

// freePorts asks the operating system for ports that nobody uses now.
func freePorts() (ports, error) {
	var p ports
	var open []net.Listener // all at once, so that the ports differ
	defer func() {
		for _, l := range open {
			_ = l.Close()
		}
	}()
	for _, port := range []*int{&p.ec2, &p.metrics, &p.local, &p.probes, &p.page} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return p, fmt.Errorf("find a free port: %w", err)
		}
		open = append(open, l)
		*port = l.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}
