package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"spokeshave.dev/test/kit/harness"
)

// counters are what the controller has used since it began.
type counters struct {
	EC2Calls   float64 `json:"ec2Calls"` // of all AWS services
	APICalls   float64 `json:"apiCalls"`
	CPUSeconds float64 `json:"cpuSeconds"`
	Decisions  float64 `json:"decisions"`
	Launched   float64 `json:"launchedNodes"`
	// PeakMB is the most memory that was resident, in MB.
	PeakMB float64 `json:"peakMB"`
}

// less returns what was used since earlier counters; the peak is the later one.
func (c counters) less(before counters) counters {
	return counters{
		EC2Calls: c.EC2Calls - before.EC2Calls, APICalls: c.APICalls - before.APICalls, CPUSeconds: c.CPUSeconds - before.CPUSeconds,
		Decisions: c.Decisions - before.Decisions, Launched: c.Launched - before.Launched, PeakMB: c.PeakMB,
	}
}

// counters reads them from the controller and from the operating system.
func (c *cluster) counters(ctx context.Context) (counters, error) {
	sums, err := metrics(ctx, c.stack.MetricsURL()+"/metrics")
	if err != nil {
		return counters{}, err
	}
	out := counters{
		EC2Calls: sums["spokeshave_aws_calls_total"], APICalls: sums["rest_client_requests_total"], CPUSeconds: sums["process_cpu_seconds_total"],
		Decisions: sums["karpenter_scheduler_scheduling_duration_seconds"], Launched: sums["karpenter_nodeclaims_created_total"],
	}
	out.PeakMB, err = peak(c.stack)
	return out, err
}

// metrics returns the sums over all labels of counters and gauges, and the numbers of
// observations of histograms.
func metrics(ctx context.Context, url string) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	out := map[string]float64{}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			out[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out, nil
}

// peak returns the most memory that the controller's process has had resident, in MB.
func peak(s *harness.Stack) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cluster.PIDs()["controller"]))
	if err != nil {
		return 0, fmt.Errorf("read the controller's memory: %w", err)
	}
	for text := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(text, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 64)
			return kb * 1024 / 1e6, err
		}
	}
	return 0, errors.New("the controller's memory is not in its status")
}
