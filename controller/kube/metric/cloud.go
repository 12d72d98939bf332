package metric

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Names of a cloud's calls: Karpenter's name for a call that Karpenter has too.
const (
	methodPrepare   = "Prepare"
	methodCreate    = "Create"
	methodDelete    = "Delete"
	methodGet       = "Get"
	methodList      = "List"
	methodTag       = "Tag"
	methodCatalog   = "GetInstanceTypes"
	methodIsDrifted = "IsDrifted"
)

// Caller says who calls a cloud, and which cloud.
type Caller struct {
	// Controller is the reconciler's name, as in controller-runtime's metrics; Provider
	// is the cloud's name.
	Controller, Provider string
}

// calls are the metrics of calls to a cloud.
type calls struct {
	took *prometheus.HistogramVec
	errs *prometheus.CounterVec
}

func newCalls(r *registrar) calls {
	return calls{
		took: register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karpenter_cloudprovider_duration_seconds", Help: "Duration of a reconciler's call to the cloud, in which several calls of its API may be made or shared.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 15),
		}, []string{"controller", "method", "provider"})),
		errs: counter(r, "karpenter_cloudprovider_errors_total", "Calls to the cloud that failed.", "controller", "method", "provider", "error"),
	}
}

// Cloud returns a provider that counts and times the calls of by. A nil *Reconcilers
// returns p itself.
func (s *Reconcilers) Cloud(p provider.Provider, by Caller) provider.Provider {
	if s == nil {
		return p
	}
	return &instrumentedProvider{to: p, callTimer: callTimer{s.calls, by}}
}

// Drifter does the same for a Drifter.
func (s *Reconcilers) Drifter(d provider.Drifter, by Caller) provider.Drifter {
	if s == nil || d == nil {
		return d
	}
	return &instrumentedDrifter{to: d, callTimer: callTimer{s.calls, by}}
}

// callTimer are the calls of one caller.
type callTimer struct {
	calls calls
	by    Caller
}

// done records the end of a call that began at begun.
func (c *callTimer) done(method string, begun time.Time, err error) {
	took := time.Since(begun) //nolint:forbidigo // metrics measure real time
	c.calls.took.WithLabelValues(c.by.Controller, method, c.by.Provider).Observe(took.Seconds())
	if err != nil {
		c.calls.errs.WithLabelValues(c.by.Controller, method, c.by.Provider, errorName(provider.KindOf(err))).Inc()
	}
}

// errorName returns Karpenter's name for a kind of error, and "unknown" for kinds for
// which Karpenter has none.
func errorName(k provider.Kind) string {
	switch k {
	case provider.NotFound:
		return "NodeClaimNotFoundError"
	case provider.InsufficientCapacity:
		return "InsufficientCapacityError"
	case provider.ClassNotReady:
		return "NodeClassNotReadyError"
	case provider.Quota, provider.Unauthorized, provider.Invalid, provider.Stale, provider.Throttled, provider.Unavailable:
		return "unknown"
	default:
		return "unknown"
	}
}

func now() time.Time { return time.Now() } //nolint:forbidigo // metrics measure real time

// instrumentedProvider is a provider whose calls are counted.
type instrumentedProvider struct {
	to provider.Provider
	callTimer
}

// Catalog implements provider.Provider.
func (c *instrumentedProvider) Catalog(ctx context.Context, nodeClass string) (model.Catalog, error) {
	begun := now()
	out, err := c.to.Catalog(ctx, nodeClass)
	c.done(methodCatalog, begun, err)
	return out, err //nolint:wrapcheck // the provider's own, unchanged; so below
}

// Prepare implements provider.Provider.
func (c *instrumentedProvider) Prepare(ctx context.Context, spec provider.LaunchSpec) (provider.Attempt, error) {
	begun := now()
	out, err := c.to.Prepare(ctx, spec)
	c.done(methodPrepare, begun, err)
	return out, err //nolint:wrapcheck // as above
}

// Launch implements provider.Provider.
func (c *instrumentedProvider) Launch(ctx context.Context, attempt provider.Attempt) (provider.Instance, error) {
	begun := now()
	out, err := c.to.Launch(ctx, attempt)
	c.done(methodCreate, begun, err)
	return out, err //nolint:wrapcheck // as above
}

// Get implements provider.Provider.
func (c *instrumentedProvider) Get(ctx context.Context, providerID string) (provider.Instance, error) {
	begun := now()
	out, err := c.to.Get(ctx, providerID)
	c.done(methodGet, begun, err)
	return out, err //nolint:wrapcheck // as above
}

// List implements provider.Provider.
func (c *instrumentedProvider) List(ctx context.Context) ([]provider.Instance, error) {
	begun := now()
	out, err := c.to.List(ctx)
	c.done(methodList, begun, err)
	return out, err //nolint:wrapcheck // as above
}

// Terminate implements provider.Provider.
func (c *instrumentedProvider) Terminate(ctx context.Context, providerID string) error {
	begun := now()
	err := c.to.Terminate(ctx, providerID)
	c.done(methodDelete, begun, err)
	return err //nolint:wrapcheck // as above
}

// Tag implements provider.Provider.
func (c *instrumentedProvider) Tag(ctx context.Context, providerID string, tags map[string]string) error {
	begun := now()
	err := c.to.Tag(ctx, providerID, tags)
	c.done(methodTag, begun, err)
	return err //nolint:wrapcheck // as above
}

// instrumentedDrifter is a Drifter whose calls are counted.
type instrumentedDrifter struct {
	to provider.Drifter
	callTimer
}

// Drifted implements provider.Drifter.
func (d *instrumentedDrifter) Drifted(ctx context.Context, node provider.Launched) (provider.Drift, error) {
	begun := now()
	out, err := d.to.Drifted(ctx, node)
	d.done(methodIsDrifted, begun, err)
	return out, err //nolint:wrapcheck // as above
}
