package docs

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeIsShort keeps the README within 150 lines, with what the product is
// and its two commands on the first screen.
func TestReadmeIsShort(t *testing.T) {
	const most, screen = 150, 40
	text, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) > most {
		t.Errorf("README.md has %d lines, at most %d are allowed", len(lines), most)
	}
	first := strings.Join(lines[:min(screen, len(lines))], "\n")
	for _, want := range []string{"Kubernetes node autoscaler", "make demo", "make test"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first %d lines of README.md lack %q", screen, want)
		}
	}
}
