package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNoTemplates: text/template calls methods by name, so that the linker keeps
// every method of every type that is reachable: the controller's file, all of
// which gets resident, nearly doubles (docs/performance.md).
func TestNoTemplates(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/spokeshave-controller")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("%d packages: go list says too little", len(packages))
	}
	for _, p := range packages {
		if p == "text/template" || p == "html/template" {
			t.Errorf("the controller links %s", p)
		}
	}
}
