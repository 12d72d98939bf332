package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFresh fails when sdk/abi has changed and the other languages have not.
func TestFresh(t *testing.T) {
	f, err := read("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.rows) != len(rowNames()) {
		t.Fatalf("%d rows of %d", len(f.rows), len(rowNames()))
	}
	for path, want := range files(f) {
		got, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale, run go generate ./sdk/abi:\n%s", path, diff)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string][2]string{
		"VCPU": {"vcpu", "vcpu"}, "MemoryGiB": {"memory_gib", "memoryGiB"}, "GPUs": {"gpus", "gpus"},
		"CPUUtilisation": {"cpu_utilisation", "cpuUtilisation"}, "HourlyUSD": {"hourly_usd", "hourlyUSD"},
		"PoolLabelsFirst": {"pool_labels_first", "poolLabelsFirst"}, "PendingCPU": {"pending_cpu", "pendingCPU"},
	} {
		if got := [2]string{snake(name), camel(name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
