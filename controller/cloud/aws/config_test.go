package aws_test

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	sim "spokeshave.dev/simulator"
)

func noClasses(context.Context, string) (*awsv1.EC2NodeClass, error) { return nil, nil }

// As the controller is configured: environment, region and endpoint.
func TestNewFromEnvironment(t *testing.T) {
	w := newEC2(t)
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
	w := newEC2(t)
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

// Every try of a call is counted, and takes from the call's share of requests:
// what AWS throttles, or fails to answer, is repeated.
func TestEveryTryCounts(t *testing.T) {
	bare(t)
	w := newEC2Of(t, "m7i.")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	registry := prometheus.NewPedanticRegistry()
	p, err := aws.New(t.Context(), aws.Config{
		ClusterName: "demo", Region: region, Endpoint: w.url, Classes: noClasses, Clock: w.clock.Now, Metrics: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	before := w.requests("DescribeInstances")
	w.order(t, sim.Fault{Action: "DescribeInstances", Code: "RequestLimitExceeded"})
	w.order(t, sim.Fault{Action: "DescribeInstances", HTTPStatus: 500})
	if _, err := p.List(t.Context()); err != nil {
		t.Errorf("list after two tries that failed: %v", err)
	}
	if n := w.requests("DescribeInstances") - before; n != 3 {
		t.Errorf("%d tries reached the endpoint, want 3", n)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted, waited := 0.0, uint64(0)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetName() {
			case "spokeshave_aws_calls_total":
				counted += m.GetCounter().GetValue()
			case "spokeshave_aws_call_wait_seconds":
				waited += m.GetHistogram().GetSampleCount()
			}
		}
	}
	if counted != 3 || waited != 3 {
		t.Errorf("%v calls counted, %d waited for their share; want each of 3 tries", counted, waited)
	}
}
