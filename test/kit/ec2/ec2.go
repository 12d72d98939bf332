// Package ec2 is an EC2 endpoint for tests: the simulator behind a URL, with instance
// types and prices of the embedded catalogue, and the SDK's way to it.
//
// Not here: the provider on it (test/kit/ec2provider), how EC2 behaves and fails
// (simulator), and a control plane beside it (test/kit/apiserver).
package ec2

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

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
	// Types and Sales are what it sells.
	Types []catalog.Type
	Sales []catalog.Sale
}

// Start starts an endpoint that sells the instance types whose names begin with any of
// the prefixes; "" is every type. changes are made to the simulator's configuration.
func Start(t testing.TB, prefixes []string, changes ...func(*sim.Config)) *Endpoint {
	t.Helper()
	cfg := sim.Config{Region: Region, Cluster: Cluster, ClusterCA: "Q0E=", Seed: 1}
	if len(prefixes) > 0 {
		cfg.Types, cfg.Sales = sold(t, prefixes)
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
	return &Endpoint{Server: server, URL: listener.URL, Types: cfg.Types, Sales: cfg.Sales}
}

// sold is the part of the embedded catalogue that has the prefixes.
func sold(t testing.TB, prefixes []string) ([]catalog.Type, []catalog.Sale) {
	t.Helper()
	types, sales, err := catalog.Load(Region)
	if err != nil {
		t.Fatal(err)
	}
	other := func(name string) bool {
		return !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	return slices.DeleteFunc(types, func(it catalog.Type) bool { return other(it.Name) }),
		slices.DeleteFunc(sales, func(s catalog.Sale) bool { return other(s.Type) })
}

// SDK is the configuration of clients of the endpoint at a URL, with a key of an
// administrator.
func SDK(url string) sdk.Config {
	return sdk.Config{Region: Region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", "")}
}

// WithoutRetries makes clients report the first failure of every call.
func WithoutRetries(cfg sdk.Config) sdk.Config {
	cfg.Retryer = func() sdk.Retryer { return sdk.NopRetryer{} }
	return cfg
}
