package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// compile builds the command as a static binary and returns it.
func compile(ctx context.Context, r request, p v1.Platform) ([]byte, error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the binary: %w", err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "program")
	// Without -buildvcs=false the state of the checkout would be in the bytes.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X spokeshave.dev/controller/app.Version="+r.version, "-o", out, r.pkg)
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.OS, "GOARCH="+p.Architecture)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build %s for %s: %w\n%s", r.pkg, p, err, stderr.Bytes())
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("read the binary for %s: %w", p, err)
	}
	return binary, nil
}
