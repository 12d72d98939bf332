package client

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/provider"
)

// A try is given as long as its call may take: a launch of many instances longer than one,
// and everything else 30 seconds. One that is cut is made again.
func TestTimeouts(t *testing.T) {
	fleet := func(n int32) func(context.Context, *ec2.Client) error {
		return func(ctx context.Context, api *ec2.Client) error {
			_, err := api.CreateFleet(ctx, &ec2.CreateFleetInput{
				LaunchTemplateConfigs:       []types.FleetLaunchTemplateConfigRequest{{}},
				TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{TotalTargetCapacity: &n},
			})
			return err
		}
	}
	describe := func(ctx context.Context, api *ec2.Client) error {
		_, err := api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{})
		return err
	}
	for name, c := range map[string]struct {
		reason string
		call   func(context.Context, *ec2.Client) error
		takes  time.Duration
		// tries is how many are sent until an answer comes or no more is tried.
		tries int
		fails bool
		bound time.Duration
	}{
		"200 instances in time":    {"EC2 answers when all are started", fleet(200), 129 * time.Second, 1, false, 130 * time.Second},
		"200 instances too late":   {"the connection may be gone", fleet(200), 131 * time.Second, 2, true, 130 * time.Second},
		"one instance in time":     {"a single launch is bounded nearly as other calls are", fleet(1), 30 * time.Second, 1, false, 30500 * time.Millisecond},
		"one instance too late":    {"the repeated request finds what the first started", fleet(1), 31 * time.Second, 2, true, 30500 * time.Millisecond},
		"other calls":              {"nothing else takes as long", describe, 31 * time.Second, 2, true, 30 * time.Second},
		"other calls in time":      {"the bound itself is not reached", describe, 29 * time.Second, 1, false, 30 * time.Second},
		"no capacity is asked for": {"the request is refused, not endless", fleet(0), time.Hour, 2, true, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries, longest := 0, time.Duration(0)
				slow := answers(func(r *http.Request) (*http.Response, error) {
					tries++
					begun := time.Now()
					select {
					case <-r.Context().Done():
						longest = max(longest, time.Since(begun))
						return nil, r.Context().Err()
					case <-time.After(c.takes):
					}
					body := http.NoBody
					return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, nil
				})
				loaded, err := Load(t.Context(), Location{SDK: &sdk.Config{
					Region: "us-west-2", Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""), HTTPClient: slow, RetryMaxAttempts: 2,
				}})
				if err != nil {
					t.Fatal(err)
				}
				err = c.call(t.Context(), ec2.NewFromConfig(loaded))
				// An empty answer is none that can be read, which shows that it came.
				if came := err == nil || !strings.Contains(err.Error(), "deadline exceeded"); came == c.fails || tries != c.tries {
					t.Errorf("%s: %d tries, %v; want %d", c.reason, tries, err, c.tries)
				}
				if c.fails && (longest != c.bound || provider.KindOf(Fault(err, "call")) != provider.Unavailable) {
					t.Errorf("%s: a try was cut after %s as %s, want %s and Unavailable", c.reason, longest, provider.KindOf(Fault(err, "call")), c.bound)
				}
			})
		})
	}
}
