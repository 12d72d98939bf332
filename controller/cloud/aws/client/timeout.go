package client

import (
	"context"
	"io"
	"net/http"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	smithymiddleware "github.com/aws/smithy-go/middleware"
)

// CallTimeout bounds one try of one AWS call, from the connection to the last byte of the
// answer; the SDK repeats it with backoff and jitter.
const CallTimeout = 30 * time.Second

// instanceTimeout is what one try of CreateFleet is given beyond CallTimeout for each instance:
// EC2 answers when it has started them all or knows that it cannot, and documents no bound.
const instanceTimeout = 500 * time.Millisecond

// FleetTimeout bounds one try of a CreateFleet for a number of instances: 130 seconds for 200.
func FleetTimeout(instances int) time.Duration {
	return CallTimeout + time.Duration(max(instances, 0))*instanceTimeout
}

// timeoutKey is where a call's context has the bound of one try; without it the bound is
// CallTimeout.
type timeoutKey struct{}

// withTimeouts bounds every try of every call.
func withTimeouts(cfg sdk.Config) sdk.Config {
	cfg = cfg.Copy()
	cfg.HTTPClient = timedTries{inner: cfg.HTTPClient}
	cfg.APIOptions = append(cfg.APIOptions, func(stack *smithymiddleware.Stack) error {
		return stack.Initialize.Add(smithymiddleware.InitializeMiddlewareFunc("spokeshave.Timeout", chooseTimeout), smithymiddleware.After)
	})
	return cfg
}

// chooseTimeout notes the bound of calls whose time depends on what they ask for.
func chooseTimeout(ctx context.Context, in smithymiddleware.InitializeInput, next smithymiddleware.InitializeHandler) (smithymiddleware.InitializeOutput, smithymiddleware.Metadata, error) {
	if fleet, ok := in.Parameters.(*ec2.CreateFleetInput); ok && fleet.TargetCapacitySpecification != nil {
		n := sdk.ToInt32(fleet.TargetCapacitySpecification.TotalTargetCapacity)
		ctx = smithymiddleware.WithStackValue(ctx, timeoutKey{}, FleetTimeout(int(n)))
	}
	return next.HandleInitialize(ctx, in)
}

// timedTries sends requests, each of which has to be answered within the bound of its call.
type timedTries struct{ inner sdk.HTTPClient }

// Do implements aws.HTTPClient.
func (c timedTries) Do(r *http.Request) (*http.Response, error) {
	bound, ok := smithymiddleware.GetStackValue(r.Context(), timeoutKey{}).(time.Duration)
	if !ok {
		bound = CallTimeout
	}
	ctx, cancel := context.WithTimeout(r.Context(), bound)
	answer, err := c.inner.Do(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err //nolint:wrapcheck // the SDK looks into the error
	}
	answer.Body = &endingBody{ReadCloser: answer.Body, end: cancel}
	return answer, nil
}

// endingBody ends the context of its request when it is closed.
type endingBody struct {
	io.ReadCloser

	end context.CancelFunc
}

// Close implements io.Closer.
func (b *endingBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close() //nolint:wrapcheck // that of the body itself
}
