package arch

import (
	"os/exec"
	"strings"
	"testing"
)

// unwanted are packages that would cost the controller memory for nothing
// (docs/measurements/controller.md).
var unwanted = map[string]string{
	"text/template": "calls methods by name, so that the linker keeps every method of every type that is reachable: the controller's file, all of which gets resident, nearly doubles",
	"html/template": "does the same",
	"github.com/aws/aws-sdk-go-v2/service/ssm/schemas": "makes a schema of every type at start; versions before 1.80 do not",
	"github.com/aws/aws-sdk-go-v2/service/eks/schemas": "makes a schema of every type at start; versions before 1.100 do not",
}

func TestNothingUnwantedIsLinked(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/spokeshave-controller")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 100 {
		t.Fatalf("%d packages: go list says too little", len(packages))
	}
	for _, p := range packages {
		if why := unwanted[p]; why != "" {
			t.Errorf("the controller links %s: it %s", p, why)
		}
	}
}
