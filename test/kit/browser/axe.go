package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/test/kit/filelock"
)

// Axe checks the accessibility of a page with axe-core.
type Axe struct{ source string }

// NewAxe returns the axe-core of tools/axe, which it has installed by npm. root is the
// folder of the repository. Where there is no npm the test is skipped, under CI it fails.
func NewAxe(t *testing.T, root string) *Axe {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no npm, which installs axe-core")
		}
		t.Skip("there is no npm here, the accessibility is not checked: install Node.js 20 or later")
	}
	// npm empties the folder first: another package's test would find no axe-core in it.
	release, err := filelock.Take(t.Context(), filepath.Join(root, "tools/axe/.lock"), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	cmd := exec.CommandContext(t.Context(), "make", "tools/axe/node_modules")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install axe-core: %v\n%s", err, out)
	}
	source, err := os.ReadFile(filepath.Join(root, "tools/axe/node_modules/axe-core/axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return &Axe{source: string(source)}
}

// violation is a rule that some elements break.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// Check fails the browser's test for each rule of WCAG 2.2, level A and AA, that the page
// it shows breaks.
func (a *Axe) Check(b *Browser, what string) {
	b.T.Helper()
	b.Eval(a.source+"; true", nil)
	var broken []violation
	b.Eval(`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then((r) => {
		if (r.passes.length < 10) throw new Error("only " + r.passes.length + " rules were checked");
		return r.violations.map((v) => ({id: v.id, help: v.help, nodes: v.nodes.map((n) => ({html: n.html, failureSummary: n.failureSummary}))}));
	})`, &broken)
	for _, v := range broken {
		text := &strings.Builder{}
		for _, n := range v.Nodes[:min(len(v.Nodes), 3)] {
			fmt.Fprintf(text, "\n%.300s\n%s", n.HTML, n.FailureSummary)
		}
		b.T.Errorf("%s: %s: %s: %d elements%s", what, v.ID, v.Help, len(v.Nodes), text)
	}
}
