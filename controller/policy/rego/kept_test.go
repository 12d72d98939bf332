package rego

import (
	"fmt"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
)

// TestKeptVerdicts: what a policy keeps between questions is bounded in bytes, not only in
// verdicts: its share of the process's memory is measured before it is asked.
func TestKeptVerdicts(t *testing.T) {
	var text strings.Builder
	text.WriteString("package spokeshave.rank\n")
	for i := range 24 {
		fmt.Fprintf(&text, "exclude contains \"%s%d\" if input.offering.vcpu > %d\n", strings.Repeat("x", 500), i, i)
		fmt.Fprintf(&text, "exclude contains \"%s%d\" if input.offering.memoryGiB > %d\n", strings.Repeat("y", 500), i, i)
	}
	e := &Engine{Serving: true}
	p, err := e.compile(t.Context(), &policy.Source{
		Info: policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookRank}}, Files: map[string]string{"p.rego": text.String()},
	})
	if err != nil {
		t.Fatal(err)
	}
	in := &policy.RankInput{}
	for i := range 400 { // each with a verdict of its own
		in.Rows = append(in.Rows, policy.RankRow{VCPU: float64(i % 20), MemoryGiB: float64(i / 20)})
	}
	for range 3 {
		if _, err := p.Rank(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		known := p.rank.takeVerdicts()
		size := 0
		for key, v := range known.of {
			size += len(key) + len(v.reason) + len(strings.Join(v.excluded, ""))
		}
		if size > maxKept || known.size < size {
			t.Errorf("%d verdicts of %d bytes are kept, %d were counted", len(known.of), size, known.size)
		}
	}
}
