// Package guests builds policies in every language of sdk/ and proves that
// their SDKs agree: the guests in c, assemblyscript, rust and go are one policy
// (echo), and leave the same bytes behind for the same batches.
//
// A folder is a guest if it has policy.c, policy.ts or a Cargo.toml; what is
// built from it is committed beside as module.wasm, so that nobody needs a
// compiler but who changes it: make guests.
//
// Not here: the host (controller/policy/wasm).
package guests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the name of a built guest, in the folder of its source.
const Module = "module.wasm"

// ErrNoCompiler is the error of Build when the language's compiler is missing.
var ErrNoCompiler = errors.New("no compiler")

// Find gives the folders of all guests below the repository's root, but for
// those in Go: those are built by the tests that need them.
func Find(root string) ([]string, error) {
	var dirs []string
	for _, top := range []string{"test/guests", "policies", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			switch d.Name() {
			case "target", "node_modules":
				return fs.SkipDir
			case "policy.c", "policy.ts", "Cargo.toml":
				dirs = append(dirs, filepath.Dir(path))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("find guests: %w", err)
		}
	}
	return dirs, nil
}

// Build compiles the guest in dir and gives the module. root is the
// repository's.
func Build(ctx context.Context, root, dir string) ([]byte, error) {
	out, err := os.MkdirTemp("", "guest")
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	defer func() { _ = os.RemoveAll(out) }()
	module := filepath.Join(out, Module)
	switch {
	case has(dir, "policy.c"):
		err = buildC(ctx, root, dir, module)
	case has(dir, "policy.ts"):
		err = buildAssemblyScript(ctx, root, dir, module)
	case has(dir, "Cargo.toml"):
		module, err = buildRust(ctx, dir, out)
	case has(dir, "main.go"):
		err = run(ctx, command{dir: dir, env: []string{"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0"}, args: []string{
			"go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", module, ".",
		}})
	default:
		err = errors.New("none of policy.c, policy.ts, Cargo.toml and main.go is there")
	}
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	b, err := os.ReadFile(module)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	return b, nil
}

func buildC(ctx context.Context, root, dir, module string) error {
	return run(ctx, command{dir: dir, args: []string{
		"clang", "--target=wasm32", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-mbulk-memory",
		"-I", filepath.Join(root, "sdk/c"), "-Wl,--no-entry,--strip-all,--stack-first,-z,stack-size=16384", "-o", module, "policy.c",
	}})
}

// buildAssemblyScript uses the compiler that npm has put beside the SDK.
func buildAssemblyScript(ctx context.Context, root, dir, module string) error {
	asc := filepath.Join(root, "sdk/assemblyscript/node_modules/assemblyscript/bin/asc.js")
	if _, err := os.Stat(asc); err != nil {
		return fmt.Errorf("asc: %w: npm ci --prefix sdk/assemblyscript installs it", ErrNoCompiler)
	}
	return run(ctx, command{dir: dir, args: []string{
		"node", asc, "policy.ts", "-o", module, "--runtime", "minimal", "-O3", "--shrinkLevel", "1", "--converge", "--noAssert",
	}})
}

const rustTarget = "wasm32-unknown-unknown"

// buildRust uses the first Rust on the path that has the target: where a
// toolchain manager's stands before the system's, only one of them may.
func buildRust(ctx context.Context, dir, out string) (string, error) {
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		rustc := filepath.Join(bin, "rustc")
		lib, err := exec.CommandContext(ctx, rustc, "--print", "target-libdir", "--target", rustTarget).Output()
		if err != nil {
			continue
		}
		if _, err := os.Stat(strings.TrimSpace(string(lib))); err != nil {
			continue
		}
		err = run(ctx, command{dir: dir, env: []string{"RUSTC=" + rustc, "CARGO_TARGET_DIR=" + out}, args: []string{
			filepath.Join(bin, "cargo"), "build", "--quiet", "--offline", "--locked", "--release", "--target", rustTarget,
		}})
		if err != nil {
			return "", err
		}
		built, err := filepath.Glob(filepath.Join(out, rustTarget, "release", "*.wasm"))
		if err != nil || len(built) != 1 {
			return "", fmt.Errorf("found %d modules, want 1 (crate-type cdylib): %w", len(built), errors.Join(err))
		}
		return built[0], nil
	}
	return "", fmt.Errorf("rustc: %w for %s", ErrNoCompiler, rustTarget)
}

type command struct {
	dir       string
	env, args []string
}

func run(ctx context.Context, c command) error {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), c.env...)
	text, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", c.args[0], ErrNoCompiler)
	case err != nil:
		return fmt.Errorf("%s: %w\n%s", filepath.Base(c.args[0]), err, bytes.TrimSpace(text))
	}
	return nil
}

func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
