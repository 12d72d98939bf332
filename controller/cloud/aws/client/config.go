package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
)

// maxTries is how often the SDK tries a call before the caller hears of it.
const maxTries = 4

// Location says where AWS is.
type Location struct {
	// Region and Endpoint replace what environment, shared configuration and
	// instance metadata say; empty leaves it to them.
	Region   string
	Endpoint string
	// SDK, when set, is used as it is, and Region and Endpoint are not.
	SDK *sdk.Config
}

// Load makes the configuration of the clients. It calls nothing of AWS but the
// instance metadata service, and that only when no region is configured.
func Load(ctx context.Context, at Location) (sdk.Config, error) {
	if at.SDK != nil {
		if at.SDK.Region == "" {
			return sdk.Config{}, errors.New("configure AWS provider: the SDK configuration names no region")
		}
		return forCalls(*at.SDK), nil
	}
	options := []func(*config.LoadOptions) error{
		// The bound for credentials; those of calls depend on the call.
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(CallTimeout)),
		config.WithEC2IMDSRegion(),
		// Backoff with jitter, and a rate of its own that falls when AWS throttles.
		config.WithRetryMode(sdk.RetryModeAdaptive),
		config.WithRetryMaxAttempts(maxTries),
	}
	if at.Region != "" {
		options = append(options, config.WithRegion(at.Region))
	}
	if at.Endpoint != "" {
		options = append(options, config.WithBaseEndpoint(at.Endpoint))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return sdk.Config{}, fmt.Errorf("load AWS configuration: %w (outside of EC2, set AWS_REGION)", err)
	}
	if loaded.Region == "" {
		return sdk.Config{}, errors.New("load AWS configuration: no region; set AWS_REGION")
	}
	if own, ok := loaded.HTTPClient.(*awshttp.BuildableClient); ok { // it may have certificates of AWS_CA_BUNDLE
		loaded.HTTPClient = own.WithTimeout(0)
	}
	return forCalls(loaded), nil
}

// forCalls is a configuration whose calls are bounded in time and have bodies that can only
// be read.
func forCalls(cfg sdk.Config) sdk.Config {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = awshttp.NewBuildableClient()
	}
	cfg.HTTPClient = plainBodies{inner: cfg.HTTPClient}
	return withTimeouts(cfg)
}

// Pause waits for d, or until the context ends.
func Pause(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}
