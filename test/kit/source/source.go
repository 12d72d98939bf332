// Package source finds the source tree that a test or a development program runs in.
package source

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Root is the folder of the module's go.mod. It fails outside of the source tree.
func Root() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || path == "" || path == os.DevNull {
		return "", fmt.Errorf("find the source tree: run inside it: %w", err)
	}
	return filepath.Dir(path), nil
}
