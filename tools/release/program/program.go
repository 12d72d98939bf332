// Package program compiles the product's programs for the platforms of a release, and
// reads what was linked into them.
package program

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Program is a compiled program.
type Program struct {
	// Package is what it was built from, such as ./cmd/spokeshave.
	Package  string
	Platform v1.Platform
	Binary   []byte
	// Linked are the modules in it.
	Linked *debug.BuildInfo
}

// Environment returns the variables that decide what a build makes, for commands of Go.
// They take the place of those that the caller's environment has.
func Environment(p v1.Platform) []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOOS="+p.OS, "GOARCH="+p.Architecture)
}

// Compile builds the package of the module in source as a static binary that says version.
func Compile(ctx context.Context, source, pkg, version string, p v1.Platform) (*Program, error) {
	dir, err := os.MkdirTemp("", "program-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the binary: %w", err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "program")
	// The flags are those of "make build", which shares what they compile. Without
	// -buildvcs=false the state of the checkout would be in the bytes.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X spokeshave.dev/controller/app.Version="+version+" -X main.version="+version, "-o", out, pkg)
	cmd.Dir = source
	cmd.Env = Environment(p)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build %s for %s: %w\n%s", pkg, p, err, stderr.Bytes())
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("read the binary for %s: %w", p, err)
	}
	linked, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, fmt.Errorf("read what is linked into %s for %s: %w", pkg, p, err)
	}
	return &Program{Package: pkg, Platform: p, Binary: binary, Linked: linked}, nil
}
