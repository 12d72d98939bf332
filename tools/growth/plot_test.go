package main

import (
	"strings"
	"testing"
)

const output = `goos: linux
BenchmarkSolve/mix=web/pods=1000-2     3  9 ns/op   4.0 cpu-ms/op  20 nodes
BenchmarkSolve/mix=web/pods=100000-2   3  9 ns/op   666.7 cpu-ms/op  20 nodes
BenchmarkSolve/mix=slow/pods=100000-2  3  9 ns/op   80000 cpu-ms/op
BenchmarkSolve/mix=slow/pods=1000-2    3  9 ns/op   8.0 cpu-ms/op
BenchmarkSolveExisting/nodes=1000/pods=10000-2  3  9 ns/op  5 cpu-ms/op
PASS
`

func TestDraw(t *testing.T) {
	var out strings.Builder
	if err := run(strings.NewReader(output), &out); err != nil {
		t.Fatal(err)
	}
	got, ok := strings.CutPrefix(out.String(), output)
	if !ok {
		t.Errorf("the output is not passed on:\n%s", out.String())
	}
	for _, want := range []string{
		"A web                     4.0 ms for 1000,    666.7 ms for 100000: 1.00 of n log n",
		"B slow                    8.0 ms for 1000,  80000.0 ms for 100000: 60.00 of n log n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	rows := strings.Split(got, "\n")
	if top := rows[3]; !strings.HasSuffix(top, "B") {
		t.Errorf("the slowest is not at the top right: %q\n%s", top, got)
	}
}

func TestRun(t *testing.T) {
	tests := map[string]struct {
		reason string
		in     string
		fails  bool
	}{
		"nothing": {"output without benchmarks draws nothing and is no failure", "PASS\n", false},
		"failed":  {"a failure must not be lost in the pipe", "--- FAIL: BenchmarkSolve\nFAIL\n", true},
		"odd":     {"a time that is not a number is passed over", "BenchmarkSolve/mix=a/pods=5 1e+ cpu-ms/op\n", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := run(strings.NewReader(tt.in), &out); (err != nil) != tt.fails {
				t.Errorf("%s: got %v", tt.reason, err)
			}
			if out.String() != tt.in {
				t.Errorf("%s: wrote %q", tt.reason, out.String())
			}
		})
	}
}
