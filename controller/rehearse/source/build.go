package source

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// isProgram reports whether a folder holds a Go main package.
func isProgram(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return false
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly)
		if err == nil && parsed.Name.Name == "main" {
			return true
		}
	}
	return false
}

// unbuilt returns an error for a folder whose source has not been compiled.
func unbuilt(dir string, cm *corev1.ConfigMap) error {
	if len(cm.Data)+len(cm.BinaryData) > 1 { // more than policy.yaml
		return nil
	}
	for _, name := range []string{"policy.c", "policy.ts", "Cargo.toml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("policy %s: there is no module.wasm: build it first, its source begins in %s", dir, name)
		}
	}
	return nil
}

// BuildError says that the go command refuses a policy's program, which does not compile as a rule.
type BuildError struct {
	// Dir is the policy's folder, and Output what the go command said.
	Dir, Output string
}

// Error implements error.
func (e *BuildError) Error() string {
	return fmt.Sprintf("build policy %s for WebAssembly: %s", e.Dir, e.Output)
}

// build compiles a Go main package to a Wasm module. The same source and toolchain give
// the same bytes in every folder.
func build(ctx context.Context, dir string) ([]byte, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("build policy %s: it is a Go program, and there is no go command: install Go from https://go.dev/dl, "+
			"or build module.wasm elsewhere and keep it with policy.yaml in a folder without Go files: %w", dir, err)
	}
	out, err := os.MkdirTemp("", "spokeshave-policy-")
	if err != nil {
		return nil, fmt.Errorf("build policy %s: %w", dir, err)
	}
	defer func() { _ = os.RemoveAll(out) }()
	file := filepath.Join(out, "module.wasm")
	cmd := exec.CommandContext(ctx, tool, "build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" && ctx.Err() == nil {
			return nil, &BuildError{Dir: dir, Output: text}
		}
		return nil, fmt.Errorf("build policy %s for WebAssembly: %w", dir, err)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("build policy %s: %w", dir, err)
	}
	return module, nil
}
