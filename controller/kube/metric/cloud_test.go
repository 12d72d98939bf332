package metric

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// failing answers every call with an error.
type failing struct{ err error }

func (f failing) Catalog(context.Context, string) (model.Catalog, error) {
	return model.Catalog{}, f.err
}

func (f failing) Prepare(context.Context, provider.LaunchSpec) (provider.Attempt, error) {
	return provider.Attempt{}, f.err
}

func (f failing) Launch(context.Context, provider.Attempt) (provider.Instance, error) {
	return provider.Instance{}, f.err
}

func (f failing) Get(context.Context, string) (provider.Instance, error) {
	return provider.Instance{}, f.err
}
func (f failing) List(context.Context) ([]provider.Instance, error)    { return nil, f.err }
func (f failing) Terminate(context.Context, string) error              { return f.err }
func (f failing) Tag(context.Context, string, map[string]string) error { return f.err }
func (f failing) Drifted(context.Context, provider.Launched) (provider.Drift, error) {
	return provider.Drift{}, f.err
}

// every makes each call of a cloud once, and returns the calls whose error is not the
// provider's.
func every(ctx context.Context, p provider.Provider, d provider.Drifter, want error) []string {
	_, catalog := p.Catalog(ctx, "")
	_, prepare := p.Prepare(ctx, provider.LaunchSpec{})
	_, launch := p.Launch(ctx, provider.Attempt{})
	_, get := p.Get(ctx, "")
	_, list := p.List(ctx)
	_, drifted := d.Drifted(ctx, provider.Launched{})
	var out []string
	for name, err := range map[string]error{
		methodCatalog: catalog, methodPrepare: prepare, methodCreate: launch, methodGet: get, methodList: list, methodIsDrifted: drifted,
		methodDelete: p.Terminate(ctx, ""), methodTag: p.Tag(ctx, "", nil),
	} {
		if err != want { //nolint:errorlint // the very same one
			out = append(out, name)
		}
	}
	return out
}

// TestCloudCalls: each call is timed under its caller's name, and a failed one is
// counted under Karpenter's name for the error.
func TestCloudCalls(t *testing.T) {
	by := Caller{Controller: "nodeclaim.lifecycle", Provider: "aws"}
	for name, tc := range map[string]struct {
		reason, want string
		err          error
	}{
		"success":   {reason: "nothing to count"},
		"sold out":  {reason: "as in Karpenter", err: &provider.Error{Kind: provider.InsufficientCapacity}, want: "InsufficientCapacityError"},
		"gone":      {reason: "as in Karpenter", err: &provider.Error{Kind: provider.NotFound}, want: "NodeClaimNotFoundError"},
		"class":     {reason: "as in Karpenter, wrapped or not", err: fmt.Errorf("launch: %w", &provider.Error{Kind: provider.ClassNotReady}), want: "NodeClassNotReadyError"},
		"quota":     {reason: "Karpenter has no name for it", err: &provider.Error{Kind: provider.Quota}, want: "unknown"},
		"something": {reason: "nobody has one", err: errors.New("something"), want: "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			s, err := NewReconcilers(registry)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := every(t.Context(), s.Cloud(failing{tc.err}, by), s.Drifter(failing{tc.err}, by), tc.err); len(wrong) > 0 {
				t.Errorf("%s: the errors of %v were changed", tc.reason, wrong)
			}
			want := map[string]float64{}
			for _, method := range []string{"Create", "Delete", "Get", "List", "GetInstanceTypes", "IsDrifted", "Prepare", "Tag"} {
				want["duration_seconds{nodeclaim.lifecycle,"+method+",aws}"] = 1
				if tc.err != nil {
					want["errors_total{nodeclaim.lifecycle,"+tc.want+","+method+",aws}"] = 1
				}
			}
			if diff := cmp.Diff(want, cloudSeries(t, registry)); diff != "" {
				t.Errorf("%s: metrics (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// cloudSeries are the counts of the calls by label.
func cloudSeries(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		name, ours := strings.CutPrefix(f.GetName(), "karpenter_cloudprovider_")
		if !ours {
			continue
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			out[fmt.Sprintf("%s{%s}", name, strings.Join(labels, ","))] = m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}

// TestCloudWithoutMetrics: without metrics the provider is returned unchanged.
func TestCloudWithoutMetrics(t *testing.T) {
	var none *Reconcilers
	if got := none.Cloud(failing{}, Caller{}); got != (failing{}) {
		t.Errorf("a cloud without metrics became %T", got)
	}
	if got := none.Drifter(failing{}, Caller{}); got != (failing{}) {
		t.Errorf("a drifter without metrics became %T", got)
	}
}
