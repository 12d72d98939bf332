// Command scale measures the controller on the local control plane: it creates
// pods that fill a number of nodes, waits until all run, and prints what the
// controller needed. docs/measurements/controller.md holds the figures.
//
//	go run ./cmd/scale -nodes 1000 -pods 10000 -settle 2m -heap heap.pprof
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"spokeshave.dev/test/kit/harness"
)

const namespace = "scale"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	nodes := flag.Int("nodes", 1000, "how many nodes the pods fill")
	pods := flag.Int("pods", 10000, "how many pods to run")
	wave := flag.Int("wave", 1000, "how many pods to create before waiting until they run: the scheduler tries every waiting pod on every new node")
	settle := flag.Duration("settle", time.Minute, "how long to wait before measuring the memory of a cluster at rest")
	heap := flag.String("heap", "", "write the heap's profile to `FILE` when all pods run")
	flag.Parse()
	err := run(ctx, size{*nodes, *pods, *wave, *settle, *heap})
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// size is the size of the cluster that is measured.
type size struct {
	nodes, pods, wave int
	settle            time.Duration
	heap              string
}

func run(ctx context.Context, n size) error {
	stack, err := harness.Start(ctx, harness.Options{
		Log: os.Stdout, Values: []string{"controller.env[0].name=ENABLE_PROFILING", "controller.env[0].value=t"},
	})
	if err != nil {
		return err
	}
	return errors.Join(measure(ctx, stack, n), stack.Stop())
}

func measure(ctx context.Context, s *harness.Stack, n size) error {
	idle, err := memory(s)
	if err != nil {
		return err
	}
	if err := s.Apply(ctx, []byte(pools)); err != nil {
		return err
	}
	start := clock.RealClock{}.Now()
	for from := 0; from < n.pods; from += n.wave {
		to := min(from+n.wave, n.pods)
		if err := create(ctx, s, max(1, n.pods/n.nodes), from, to); err != nil {
			return err
		}
		if err := s.Until(ctx, "all pods to run", 10*time.Minute, s.Running(namespace, nil, to)); err != nil {
			return err
		}
		now, err := memory(s)
		if err != nil {
			return err
		}
		say("%6s  %5d pods run, the controller takes %s\n", clock.RealClock{}.Since(start).Round(time.Second), to, now["VmRSS"])
	}
	took := clock.RealClock{}.Since(start)
	if n.heap != "" {
		if err := download(ctx, s.MetricsURL()+"/debug/pprof/heap", n.heap); err != nil {
			return err
		}
	}
	rising, err := memory(s)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-clock.RealClock{}.After(n.settle):
	}
	rest, err := memory(s)
	if err != nil {
		return err
	}
	return report(ctx, s, took, []stage{{"idle", idle}, {"all pods run", rising}, {"at rest for " + n.settle.String(), rest}})
}

// stage is a memory reading.
type stage struct {
	when   string
	memory map[string]string
}

const pools = `apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
` + harness.DefaultClass + `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: scale}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5a.large, m6i.large]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`

// allocatable is the CPU that such a node has for pods, in millicores.
const allocatable = 1900

// create creates pods from to to-1 without a controller, perNode of which fill a node.
func create(ctx context.Context, s *harness.Stack, perNode, from, to int) error {
	cpu := *resource.NewMilliQuantity(int64(allocatable/perNode), resource.DecimalSI)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(32)
	for i := from; i < to; i++ {
		work.Go(func() error {
			return s.Client.Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("pod-%05d", i), Labels: map[string]string{"app": fmt.Sprintf("app-%d", i%50)}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "main", Image: "example.com/main:1",
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
						corev1.ResourceCPU: cpu, corev1.ResourceMemory: resource.MustParse("256Mi"),
					}},
				}}},
			})
		})
	}
	return work.Wait()
}

// memory returns the controller's resident set, present and peak, in MB.
func memory(s *harness.Stack) (map[string]string, error) {
	pid := s.Cluster.PIDs()["controller"]
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil, fmt.Errorf("read the controller's memory: %w", err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && (strings.HasPrefix(name, "Vm") || strings.HasPrefix(name, "Rss")) {
			out[name] = strings.TrimSpace(value)
		}
	}
	return out, nil
}

func report(ctx context.Context, s *harness.Stack, took time.Duration, stages []stage) error {
	fleet, err := s.Fleet(ctx)
	if err != nil {
		return err
	}
	planned, as := 0, 0
	for _, m := range fleet {
		planned, as = planned+m.Planned, as+m.AsPlanned
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "nodes\t%d\n", len(fleet))
	_, _ = fmt.Fprintf(w, "all pods run after\t%s\n", took.Round(time.Second))
	_, _ = fmt.Fprintf(w, "bound as planned\t%d of %d\n", as, planned)
	for _, each := range stages {
		m := each.memory
		_, _ = fmt.Fprintf(w, "memory, %s\t%s resident: %s its own, %s of the program's file (at most %s)\n", each.when, m["VmRSS"], m["RssAnon"], m["RssFile"], m["VmHWM"])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	say("%s", table.String())
	return metrics(ctx, s)
}

// say prints a line. Write errors are ignored.
func say(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }

// metrics prints figures from the controller's metrics.
func metrics(ctx context.Context, s *harness.Stack) error {
	body, err := get(ctx, s.MetricsURL()+"/metrics")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(body)) {
		for _, name := range []string{
			"go_memstats_", "spokeshave_snapshot_duration_seconds_sum", "spokeshave_snapshot_duration_seconds_count",
			"karpenter_scheduler_scheduling_duration_seconds_sum", "karpenter_scheduler_scheduling_duration_seconds_count", "process_cpu_seconds_total",
		} {
			if strings.HasPrefix(line, name) {
				say("%s", line)
			}
		}
	}
	return nil
}

func download(ctx context.Context, from, to string) error {
	body, err := get(ctx, from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, body, 0o600); err != nil {
		return fmt.Errorf("keep the profile: %w", err)
	}
	return nil
}

func get(ctx context.Context, from string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	return body, nil
}
