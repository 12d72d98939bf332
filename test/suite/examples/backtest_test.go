package examples

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestBacktest follows the README of the backtest, which needs no cluster.
func TestBacktest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command line")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-c", steps(t, "../../../examples/backtest/README.md"))
	cmd.Dir = "../../.."
	cmd.Env = append(cmd.Environ(), "TMPDIR="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	t.Logf("%s", out.Bytes())
	if err != nil {
		t.Fatalf("the steps fail: %v", err)
	}
	for _, want := range []string{"on-demand", "interruptions survived", "\n8\n", `"usd": `} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the steps do not print %q", want)
		}
	}
	if m := regexp.MustCompile(`"interruptions": (\d+)`).FindStringSubmatch(out.String()); m == nil || m[1] == "0" {
		t.Error("a worse week has no interruption")
	}
}
