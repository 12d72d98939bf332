package simulator

import (
	"fmt"
	"log/slog"
	"time"

	"k8s.io/utils/clock"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/simulator/ec2"
	"spokeshave.dev/simulator/iam/policy"
)

// Config says what the endpoint pretends to be. Types and Sales are required,
// everything else has a useful zero value.
//
// Size: one field for each setting of the simulator.
type Config struct {
	// Region is us-west-2 unless set; Account is 12 digits.
	Region  string
	Account string
	// Cluster names the EKS cluster, whose subnets and security group carry the
	// tag karpenter.sh/discovery=<Cluster>. "spokeshave" unless set.
	Cluster string
	// ClusterEndpoint and ClusterCA (base64) are what DescribeCluster tells.
	ClusterEndpoint string
	ClusterCA       string
	// KubernetesVersion is the cluster's, such as 1.36.
	KubernetesVersion string
	// NodeRoles are the IAM roles that exist; KarpenterNodeRole-<Cluster> unless
	// set.
	NodeRoles []string
	// Queue is the name of the interruption queue; the cluster's unless set.
	Queue string
	// Seed makes identifiers, addresses and spot capacity.
	Seed uint64
	// Clock is the real one unless set.
	Clock clock.Clock
	// Types are the instance types that exist, Sales where and at what price
	// they are sold. Zones are those that Sales name.
	Types []catalog.Type
	Sales []catalog.Sale
	// PendingDelay is from launch to running, ShutdownDelay from the call to
	// terminated.
	PendingDelay  time.Duration
	ShutdownDelay time.Duration
	// Lag is how long a new instance is missing from Describe calls.
	// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
	Lag time.Duration
	// FleetAttempts is how many pools a fleet tries before it reports the rest as
	// UnfulfillableCapacity; 0 tries them all.
	FleetAttempts int
	// Latency is spent on every request, in real time; two milliseconds unless
	// set, none when negative. An answer faster than any network trips AWS's SDK
	// for Go: it closes the request's body while its transport still looks for
	// the body's end, and the connection is lost with half of the answer.
	Latency time.Duration
	// OnDemandVCPUs and SpotVCPUs are the account's quotas; 0 is none.
	OnDemandVCPUs int
	SpotVCPUs     int
	// Limits are limits of production that do not bite unless set; Throttle has
	// EC2 refuse calls beyond its request rates.
	Limits   ec2.Limits
	Throttle bool
	// Policies are the identity-based policies of every caller but the joiner's
	// key; none allows everything.
	Policies []*policy.Document
	// Log takes one line for each request at level debug. Discarded when nil.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	text := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	text(&c.Region, "us-west-2")
	text(&c.Account, "123456789012")
	text(&c.Cluster, "spokeshave")
	text(&c.ClusterEndpoint, "https://127.0.0.1:6443")
	text(&c.KubernetesVersion, "1.36")
	text(&c.Queue, c.Cluster)
	if len(c.NodeRoles) == 0 {
		c.NodeRoles = []string{"KarpenterNodeRole-" + c.Cluster}
	}
	if c.Latency == 0 {
		c.Latency = 2 * time.Millisecond
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate says what is missing.
func (c Config) Validate() error {
	if len(c.Types) == 0 || len(c.Sales) == 0 {
		return fmt.Errorf("configure ec2sim for %s: no instance types; fill Types and Sales from a catalogue", c.Region)
	}
	return c.Limits.Validate()
}
