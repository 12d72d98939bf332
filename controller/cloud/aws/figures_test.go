package aws_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// measured is a simulated EC2 with metrics, and a reader of one of them by label.
func measured(t *testing.T) (*simulatedEC2, func(name string) map[string]float64) {
	t.Helper()
	w, reg := newEC2(t), prometheus.NewRegistry()
	w.provider = w.newProvider(t, w.url, func(c *aws.Config) { c.Metrics = reg })
	return w, func(name string) map[string]float64 {
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				var labels []string
				for _, l := range m.GetLabel() {
					labels = append(labels, l.GetValue())
				}
				if key := strings.Join(labels, " "); f.GetName() == name {
					out[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
				}
			}
		}
		return out
	}
}

// TestLaunchFailureFigures: every offering that EC2 refused is counted where it is
// and why, whether the request failed as a whole or something was launched.
func TestLaunchFailureFigures(t *testing.T) {
	first, second := option("m7i.large", "us-west-2a", model.OnDemand), option("m7i.xlarge", "us-west-2b", model.OnDemand)
	sold := sim.Fault{Code: "InsufficientInstanceCapacity", Forever: true, Offering: &sim.Offering{Type: first.InstanceType, Zone: first.Zone}}
	for name, tc := range map[string]struct {
		reason string
		faults []sim.Fault
		want   map[string]float64
	}{
		"none":        {reason: "nothing failed", want: map[string]float64{}},
		"one":         {reason: "the other was launched", faults: []sim.Fault{sold}, want: map[string]float64{"on-demand InsufficientCapacity us-west-2a usw2-az1": 1}},
		"as a whole":  {reason: "both were asked for", faults: []sim.Fault{{Action: "CreateFleet", Code: "VcpuLimitExceeded"}}, want: map[string]float64{"on-demand Quota us-west-2a usw2-az1": 1, "on-demand Quota us-west-2b usw2-az2": 1}},
		"not settled": {reason: "the same request is made again, and may yet succeed", faults: []sim.Fault{{Action: "CreateFleet", HTTPStatus: 500}}, want: map[string]float64{}},
		"not known": {
			reason: "an earlier try may have launched: the same request is made again", want: map[string]float64{},
			faults: []sim.Fault{{Action: "CreateFleet", Code: "VcpuLimitExceeded"}, {Action: "DescribeInstances", Code: "UnauthorizedOperation"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, read := measured(t)
			w.catalog(t, "default")
			for _, f := range tc.faults {
				w.order(t, f)
			}
			_, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", first, second)))
			if diff := cmp.Diff(tc.want, read("karpenter_cloudprovider_instance_launch_failures_total")); diff != "" {
				t.Errorf("%s (%v): -want +got\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestTerminationFailureFigures: an instance that cannot be ended is counted each
// time, one that is gone is not.
func TestTerminationFailureFigures(t *testing.T) {
	w, read := measured(t)
	const name = "karpenter_cloudprovider_instance_termination_failures_total"
	one, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand))))
	if err != nil {
		t.Fatal(err)
	}
	w.order(t, sim.Fault{Action: "TerminateInstances", Code: "UnauthorizedOperation", Count: 2})
	for range 2 {
		wantKind(t, w.provider.Terminate(t.Context(), one.ProviderID), provider.Unauthorized)
	}
	want := map[string]float64{"us-west-2a usw2-az1": 2}
	if diff := cmp.Diff(want, read(name)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := w.provider.Terminate(t.Context(), one.ProviderID); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.provider.Terminate(t.Context(), "aws:///us-west-2a/i-0123456789abcdef0"), provider.NotFound)
	if diff := cmp.Diff(want, read(name)); diff != "" {
		t.Errorf("after one that worked, and one that is gone: -want +got\n%s", diff)
	}
}

// TestBatchFigures: how many came together, by what was asked.
func TestBatchFigures(t *testing.T) {
	w, read := measured(t)
	undo := w.provider.Together(t, 3)
	defer undo()
	var all []string
	for i := range 3 {
		all = append(all, fmt.Sprintf("aws:///us-west-2a/i-%017d", i))
	}
	done := make(chan error)
	for _, id := range all {
		go func() { done <- w.provider.Terminate(t.Context(), id) }()
	}
	for range all {
		wantKind(t, <-done, provider.NotFound)
	}
	if got := read("karpenter_cloudprovider_batcher_batch_size"); !cmp.Equal(got, map[string]float64{"terminate_instances": 3}) {
		t.Errorf("batches %v, want one of three", got)
	}
	if got := read("karpenter_cloudprovider_batcher_batch_time_seconds"); got["terminate_instances"] <= 0 {
		t.Errorf("gathered for %v s", got)
	}
}

// TestUserDataFigures: the user data that was sent, until the class is gone.
func TestUserDataFigures(t *testing.T) {
	w, read := measured(t)
	class := w.class(t, "own", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	launch := func(claim string) float64 {
		t.Helper()
		s := spec(claim, option("m7i.large", "us-west-2a", model.OnDemand))
		s.NodeClass = "own"
		w.prepare(t, s)
		return read("karpenter_ec2nodeclasses_userdata_bytes")["own"]
	}
	before := launch("a")
	script := "#!/bin/sh\necho " + strings.Repeat("x", 1000)
	class.Spec.UserData = &script
	if after := launch("b"); before < 100 || after < before+1000 {
		t.Errorf("%v bytes, and with 1,000 more of the class's own %v", before, after)
	}
	if err := w.provider.NodeClasses().DeleteTemplates(t.Context(), "own"); err != nil {
		t.Fatal(err)
	}
	if got := read("karpenter_ec2nodeclasses_userdata_bytes"); len(got) != 0 {
		t.Errorf("the class is gone, and the metric says %v", got)
	}
}
