package aws

import (
	"context"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/provider"
)

// Config says where the cloud is and which cluster its instances belong to.
// ClusterName, Classes and Clock are needed.
//
// Size: one field for each setting of the provider.
type Config struct {
	// Region and Endpoint replace what environment, shared configuration and
	// instance metadata say; empty leaves it to them.
	Region   string
	Endpoint string
	// SDK, when set, is used as it is, and Region and Endpoint are not.
	SDK *sdk.Config

	ClusterName string
	// ClusterEndpoint, ClusterCA (base64), ServiceCIDR and KubernetesVersion
	// ("1.36") go into user data and image aliases. What is empty is asked of EKS.
	ClusterEndpoint   string
	ClusterCA         string
	ServiceCIDR       string
	KubernetesVersion string
	// DriftCA is the cluster's CA certificate (base64) as part of the drift hash of
	// node classes, "" when it is not known. It must be what Karpenter would find:
	// the configured bundle, else that of the controller's own connection.
	DriftCA string
	// APIServer tells the version ("1.36") and the CA (base64) of the API server
	// that the controller itself talks to, for clusters that EKS does not know. Nil
	// is not asked.
	APIServer func(ctx context.Context) (version, ca string, err error)
	// ClusterDNS finds the address of the cluster's DNS service, "" when there is none. Nil
	// leaves it to the images.
	ClusterDNS func(ctx context.Context) (string, error)

	// Classes finds a node class by name; a NotFound error or nil is a class
	// that does not exist.
	Classes func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	// Written returns the attempt that a claim has written down, read from the API server. The
	// error has kind NotFound for a claim that is gone or being deleted. Nil is not known: a
	// claim that shares a launch with one that does not come then waits longer.
	Written func(ctx context.Context, claim string) (provider.Attempt, error)
	// Clock is time.Now outside of tests.
	Clock func() time.Time
	Log   logr.Logger
	// Metrics takes the provider's metrics; nil records none.
	Metrics prometheus.Registerer
	// QuotaShare is the part of the account's EC2 request quotas that may be
	// used; 0 is a half.
	QuotaShare float64
	// Claims is how many claims are launched at the same time: when so many wait to
	// share a request, no more will come. 0 is not known.
	Claims int
	// InterruptionQueue is the name of the SQS queue that ListenForEvents reads;
	// empty when there is none.
	InterruptionQueue string

	// Discounts make billed prices of list prices; see ParseDiscounts.
	Discounts []market.Discount
	// Isolated keeps to the embedded prices for on-demand, for networks that
	// cannot reach the Price List service.
	Isolated bool
	// NoReservations leaves capacity reservations alone, whatever classes select: instances
	// are on demand or spot, and those on demand use open reservations as EC2 sees fit.
	NoReservations bool
	// ReservedENIs are interfaces per instance that pods cannot use.
	ReservedENIs int
	// PrefixDelegation says that the VPC CNI gives each slot of an interface 16
	// addresses (its setting ENABLE_PREFIX_DELEGATION).
	PrefixDelegation bool
	// MemoryOverhead is the share of memory that the hypervisor keeps; nil is
	// the catalogue's default.
	MemoryOverhead *float64
}

// withoutReservations finds classes as if they selected no capacity reservations, also
// where their status still lists some.
func withoutReservations(find func(context.Context, string) (*awsv1.EC2NodeClass, error)) func(context.Context, string) (*awsv1.EC2NodeClass, error) {
	return func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
		class, err := find(ctx, name)
		if class == nil || err != nil {
			return class, err
		}
		class = class.DeepCopy()
		class.Spec.CapacityReservationSelectorTerms, class.Status.CapacityReservations = nil, nil
		return class, nil
	}
}
