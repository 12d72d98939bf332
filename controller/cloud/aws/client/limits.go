package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	smithymiddleware "github.com/aws/smithy-go/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
)

// quota is a bucket of requests: how many at once, and how many more a second.
type quota struct {
	burst  int
	second float64
}

// quotaOf is what an account has for an action and a region by default. An
// account's own may be higher; what is kept below the lowest needs no setting.
// https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
func quotaOf(service, action string) (quota, bool) {
	if service != "EC2" {
		return quota{}, false
	}
	switch {
	case action == "CreateTags":
		return quota{burst: 100, second: 10}, true
	case action == "TerminateInstances":
		return quota{burst: 100, second: 5}, true
	case action == "DescribeInstanceTypes", action == "DescribeInstanceTypeOfferings", action == "DescribeSpotPriceHistory":
		return quota{burst: 100, second: 10}, true
	case strings.HasPrefix(action, "Describe"):
		return quota{burst: 100, second: 20}, true
	default:
		return quota{burst: 50, second: 5}, true
	}
}

// DefaultShare is the part of a quota that is used: the account has other users,
// people at the console among them.
const DefaultShare = 0.5

// limits holds one bucket for each action, and counts the calls.
type limits struct {
	share   float64
	metrics *callMetrics

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func (l *limits) bucket(service, action string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := service + " " + action
	if b, ok := l.buckets[key]; ok {
		return b
	}
	b := rate.NewLimiter(rate.Inf, 0)
	if q, ok := quotaOf(service, action); ok {
		b = rate.NewLimiter(rate.Limit(q.second*l.share), max(1, int(float64(q.burst)*l.share)))
	}
	if l.buckets == nil {
		l.buckets = map[string]*rate.Limiter{}
	}
	l.buckets[key] = b
	return b
}

// attempt makes every try of a call, repeated ones included, wait for its
// bucket, and counts it.
func (l *limits) attempt(ctx context.Context, in smithymiddleware.FinalizeInput, next smithymiddleware.FinalizeHandler) (smithymiddleware.FinalizeOutput, smithymiddleware.Metadata, error) {
	service, action := middleware.GetServiceID(ctx), middleware.GetOperationName(ctx)
	begun := time.Now() //nolint:forbidigo // metrics measure real time
	if err := l.bucket(service, action).Wait(ctx); err != nil {
		return smithymiddleware.FinalizeOutput{}, smithymiddleware.Metadata{}, fmt.Errorf("wait for %s's share of requests: %w", action, err)
	}
	sent := time.Now() //nolint:forbidigo // metrics measure real time
	out, meta, err := next.HandleFinalize(ctx, in)
	l.metrics.record(call{service: service, action: action, code: codeOf(err), waited: sent.Sub(begun), took: time.Since(sent)}) //nolint:forbidigo // metrics measure real time
	return out, meta, err
}

func codeOf(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	case errors.Is(err, context.Canceled):
		return "Canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "Timeout"
	default:
		return "NoAnswer"
	}
}

// Limit adds limits to a configuration: each action takes at most share of the
// account's default quota of requests. The limit comes after the retries, so that each
// try counts. Calls are counted and timed on metrics; nil records nothing.
func Limit(cfg sdk.Config, share float64, metrics prometheus.Registerer) (sdk.Config, error) {
	recorded, err := newCallMetrics(metrics)
	if err != nil {
		return sdk.Config{}, err
	}
	return limited(cfg, &limits{share: share, metrics: recorded}), nil
}

func limited(cfg sdk.Config, l *limits) sdk.Config {
	cfg = cfg.Copy()
	cfg.APIOptions = append(cfg.APIOptions, func(stack *smithymiddleware.Stack) error {
		return stack.Finalize.Insert(smithymiddleware.FinalizeMiddlewareFunc("spokeshave.Limit", l.attempt), "Retry", smithymiddleware.After)
	})
	return cfg
}
