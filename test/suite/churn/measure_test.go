package churn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// figures are what the controller takes when it has nothing to manage.
type figures struct {
	// heap is what lives after a garbage collection, resident what the kernel says without
	// records, in bytes.
	heap, resident float64
	// records is what the profile of the heap takes, in bytes: a record of each place of the
	// program that has allocated. Only ENABLE_PROFILING turns it on.
	records    float64
	goroutines float64
	// revisions is how many revisions of policies have been loaded since the start.
	revisions float64
	// cpu is the processor time since the start, in seconds.
	cpu float64
	// series is how many lines /metrics has, stale how many of them name something of
	// this test, all of which is gone, and offerings how many are of an offering.
	series, offerings int
	stale             []string
}

// nodeNames ends the name of every node that EC2 starts, as a label's value.
const nodeNames = `.compute.internal"`

// measure returns the figures after two garbage collections: what has a finalizer goes
// with the second.
func measure(t *testing.T) figures {
	t.Helper()
	var f figures
	for range 2 {
		if err := get(t.Context(), "/debug/pprof/heap?gc=1&debug=1", f.readHeap); err != nil {
			t.Fatal(err)
		}
	}
	if err := get(t.Context(), "/metrics", f.read); err != nil {
		t.Fatal(err)
	}
	f.resident -= f.records
	if f.heap == 0 || f.resident <= 0 || f.records == 0 || f.goroutines == 0 || f.cpu == 0 {
		t.Fatalf("the controller does not tell what it takes: %+v", f)
	}
	return f
}

// readHeap reads what lives from the profile of the heap, which tells it before it is
// written. /metrics would tell what has been allocated for its own lines besides: megabytes.
func (f *figures) readHeap(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text, found := strings.CutPrefix(lines.Text(), "# HeapAlloc = ")
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("read the live heap: %w", err)
		}
		f.heap = n
	}
	return lines.Err()
}

func (f *figures) read(r io.Reader) error {
	known := map[string]*float64{
		"process_resident_memory_bytes": &f.resident, "go_memstats_buck_hash_sys_bytes": &f.records,
		"go_goroutines": &f.goroutines, "process_cpu_seconds_total": &f.cpu,
		`spokeshave_policy_revisions_total{outcome="active"}`: &f.revisions,
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		f.series++
		if strings.HasPrefix(line, "karpenter_cloudprovider_instance_type_offering_") {
			f.offerings++
		}
		if strings.Contains(line, `"churn-`) || strings.Contains(line, nodeNames) {
			f.stale = append(f.stale, line)
		}
		name, value, _ := strings.Cut(line, " ")
		if into := known[name]; into != nil {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			*into = n
		}
	}
	return lines.Err()
}

// keepProfile writes the profile of the heap and /metrics to the folder that CHURN_PROFILES
// names, if any.
func keepProfile(t *testing.T, name string) {
	t.Helper()
	if folder := os.Getenv("CHURN_PROFILES"); folder != "" {
		keep(t, "/debug/pprof/heap?gc=1", filepath.Join(folder, name+".heap"))
		keep(t, "/metrics", filepath.Join(folder, name+".metrics"))
	}
}

// keepCPU lets time pass, and writes the profile of the processor time in it to that
// folder, if any.
func keepCPU(t *testing.T, name string, during time.Duration) {
	t.Helper()
	wait(t, during/2)
	if folder := os.Getenv("CHURN_PROFILES"); folder != "" {
		keep(t, fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", (during/2).Seconds()), filepath.Join(folder, name+".cpu"))
		return
	}
	wait(t, during/2)
}

func keep(t *testing.T, from, to string) {
	t.Helper()
	err := get(t.Context(), from, func(r io.Reader) error {
		file, err := os.Create(to)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, r)
		return errors.Join(err, file.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// get reads a page of the controller's metrics port.
func get(ctx context.Context, path string, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, stack.MetricsURL()+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("read %s: %s", path, resp.Status)
	}
	return read(resp.Body)
}
