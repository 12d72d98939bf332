package aws_test

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/provider/aws"
)

func noClasses(context.Context, string) (*awsv1.EC2NodeClass, error) { return nil, nil }

// As the controller is configured: environment, region and endpoint.
func TestNewFromEnvironment(t *testing.T) {
	w := newWorld(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	cfg := aws.Config{ClusterName: "demo", Classes: noClasses, Clock: w.clock.Now}
	for name, c := range map[string]struct {
		region, endpoint string
		environment      map[string]string
	}{
		"settings":    {region: region, endpoint: w.url},
		"environment": {environment: map[string]string{"AWS_REGION": region, "AWS_ENDPOINT_URL": w.url}},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range c.environment {
				t.Setenv(key, value)
			}
			cfg.Region, cfg.Endpoint = c.region, c.endpoint
			p, err := aws.New(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := p.List(t.Context()); err != nil || len(got) != 0 || p.Region() != region {
				t.Errorf("List in %s = %v, %v", p.Region(), got, err)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	w := newWorld(t)
	for name, c := range map[string]struct {
		cfg  aws.Config
		want string
	}{
		"no cluster": {aws.Config{Classes: noClasses, Clock: w.clock.Now}, "CLUSTER_NAME"},
		"no clock":   {aws.Config{ClusterName: "demo", Classes: noClasses}, "Clock"},
		"no region":  {aws.Config{ClusterName: "demo", Classes: noClasses, Clock: w.clock.Now}, "AWS_REGION"},
		"no region given": {
			aws.Config{ClusterName: "demo", Classes: noClasses, Clock: w.clock.Now, SDK: &sdk.Config{}}, "names no region",
		},
	} {
		if _, err := aws.New(t.Context(), c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}
