package solver

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden pins whole plans of random snapshots, so that a change of plans
// is seen in review, and on every machine.
func TestGolden(t *testing.T) {
	for _, seed := range []uint64{7, 21, 42, 99} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := newGenerator(seed)
			in := g.input(40)
			in.Effort = DefaultEffort
			g.policies(&in)
			plan, stats := Solve(in)
			hold(t, seed, &in, &plan)
			got := strings.Join(outline(in.Snapshot, &plan), "\n") +
				fmt.Sprintf("\n%d pods, %s $/h billed, %.4f $/h in effect\n", stats.Pods, stats.Billed, stats.Effective)
			file := filepath.Join("testdata", fmt.Sprintf("plan-%d.golden", seed))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the plan has changed; -update accepts it\n%s", diff)
			}
		})
	}
}
