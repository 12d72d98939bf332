// Package ec2 is an EC2 endpoint for tests: the simulator behind a URL, with instance
// types and prices of the embedded catalogue, and the provider on it.
//
// Not here: how EC2 behaves and fails (simulator), and a control plane beside it
// (test/kit/apiserver).
package ec2

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/catalog"
	sim "spokeshave.dev/simulator"
)

const (
	// Region is the endpoint's.
	Region = "us-west-2"
	// Cluster is the name of the cluster that the endpoint knows.
	Cluster = "demo"
)

// Endpoint is an EC2 that answers at a URL until the test ends.
type Endpoint struct {
	Server *sim.Server
	URL    string
}

// Start starts an endpoint that sells the instance types whose names begin with any of
// the prefixes. changes are made to the simulator's configuration.
func Start(t testing.TB, prefixes []string, changes ...func(*sim.Config)) *Endpoint {
	t.Helper()
	types, sales, err := catalog.Load(Region)
	if err != nil {
		t.Fatal(err)
	}
	other := func(name string) bool {
		return !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	cfg := sim.Config{
		Region: Region, Cluster: Cluster, ClusterCA: "Q0E=", Seed: 1,
		Types: slices.DeleteFunc(types, func(it catalog.Type) bool { return other(it.Name) }),
		Sales: slices.DeleteFunc(sales, func(s catalog.Sale) bool { return other(s.Type) }),
	}
	for _, change := range changes {
		change(&cfg)
	}
	server, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return &Endpoint{Server: server, URL: listener.URL}
}

// Provider is a provider that has just started: it remembers nothing. Its clock is the
// machine's, and classes finds no node class, unless changes say otherwise.
func Provider(t testing.TB, url string, changes ...func(*aws.Config)) *aws.Provider {
	t.Helper()
	cfg := aws.Config{
		SDK: &sdk.Config{
			Region: Region, BaseEndpoint: sdk.String(url), Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
		},
		ClusterName: Cluster, Clock: clock.RealClock{}.Now, Log: logr.Discard(),
		Classes: func(context.Context, string) (*awsv1.EC2NodeClass, error) { return nil, nil },
	}
	for _, change := range changes {
		change(&cfg)
	}
	p, err := aws.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// NoRetries makes the SDK report the first failure of every call.
func NoRetries(c *aws.Config) {
	c.SDK.Retryer = func() sdk.Retryer { return sdk.NopRetryer{} }
}

// Class is a node class that finds the endpoint's subnets and security groups, with
// the images that the terms choose; its status is empty.
func Class(name string, images ...awsv1.AMISelectorTerm) *awsv1.EC2NodeClass {
	discovery := map[string]string{"karpenter.sh/discovery": Cluster}
	return &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			Role:                       "KarpenterNodeRole-" + Cluster,
			AMISelectorTerms:           images,
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
		},
	}
}
