package aws

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// callTimeout bounds one try of one AWS call; the SDK repeats it with backoff
// and jitter.
const callTimeout = 30 * time.Second

// maxTries is how often the SDK tries a call before the caller hears of it.
const maxTries = 4

// Config says where the cloud is and which cluster its instances belong to.
// ClusterName, Classes and Clock are needed.
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
	// APIServer tells the version ("1.36") and the CA (base64) of the API server
	// that the controller itself talks to, for clusters that EKS does not know. Nil
	// is not asked.
	APIServer func(ctx context.Context) (version, ca string, err error)

	// Classes finds a node class by name; a NotFound error or nil is a class
	// that does not exist.
	Classes func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
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
	Discounts []Discount
	// Isolated keeps to the embedded prices for on-demand, for networks that
	// cannot reach the Price List service.
	Isolated bool
	// ReservedENIs are interfaces per instance that pods cannot use.
	ReservedENIs int
	// PrefixDelegation says that the VPC CNI gives each slot of an interface 16
	// addresses (its setting ENABLE_PREFIX_DELEGATION).
	PrefixDelegation bool
	// MemoryOverhead is the share of memory that the hypervisor keeps; nil is
	// the catalogue's default.
	MemoryOverhead *float64
}

// Provider implements provider.Provider on EC2. Make it with New.
type Provider struct {
	cfg      Config
	sdk      SDK
	metrics  *metrics
	zoneIDs  zoneNames
	region   string
	market   market
	shortage shortage
	reserved reservedRoom
	memories memories
	shifts   shifts
	cluster  clusterCache
	parties  parties
	prepares gatherer[member, provider.Attempt]
	gets     gatherer[string, *provider.Instance]
	ends     gatherer[string, struct{}]
	// making keeps callers from making the same launch template at once.
	making singleflight.Group

	mu sync.Mutex
	// lowered keeps the last catalogue of each class.
	lowered map[string]lowered
	// templates and profiles are those known to exist, until when.
	templates map[string]time.Time
	profiles  map[string]time.Time
	// groups are the placement groups that classes name.
	groups map[string]placementGroup
	// parameters are SSM's.
	parameters map[string]parameterValue
	// recent are instances launched a moment ago, which reads may not show yet.
	recent map[string]sighting
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider. It calls nothing of AWS but the instance metadata
// service, and that only when no region is configured.
func New(ctx context.Context, cfg Config) (*Provider, error) {
	switch {
	case cfg.ClusterName == "":
		return nil, errors.New("configure AWS provider: no cluster name; set CLUSTER_NAME (settings.clusterName in the chart)")
	case cfg.Classes == nil || cfg.Clock == nil:
		return nil, errors.New("configure AWS provider: Classes and Clock are needed")
	}
	loaded, err := load(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	if cfg.QuotaShare <= 0 {
		cfg.QuotaShare = defaultShare
	}
	recorded, err := newMetrics(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	for what, used := range map[string]bool{marketTypes: true, marketSpot: true, marketOnDemand: !cfg.Isolated, marketVolumes: !cfg.Isolated} {
		if used {
			recorded.updated(what, time.Time{})
		}
	}
	p := &Provider{
		cfg: cfg, sdk: NewSDK(limited(withPlainBodies(loaded), &limits{share: cfg.QuotaShare, metrics: recorded})), region: loaded.Region,
		metrics:    recorded,
		shortage:   shortage{until: map[offering]time.Time{}},
		lowered:    map[string]lowered{},
		templates:  map[string]time.Time{},
		profiles:   map[string]time.Time{},
		parameters: map[string]parameterValue{},
		recent:     map[string]sighting{},
	}
	p.gather()
	return p, nil
}

// gather opens the windows in which calls of many callers are joined.
func (p *Provider) gather() {
	most := 10 * maxParty
	if p.cfg.Claims > 0 {
		most = min(most, p.cfg.Claims)
	}
	p.prepares = gatherer[member, provider.Attempt]{
		idle: prepareIdle, each: prepareEach, patience: prepareMost, longest: prepareLongest, most: most, do: p.seal,
		closed: p.metrics.gathered(batchLaunches),
	}
	p.gets = gatherer[string, *provider.Instance]{
		idle: gatherIdle, longest: gatherLongest, most: 5 * maxFilterValues, do: p.getAll, closed: p.metrics.gathered(batchLooks),
	}
	p.ends = gatherer[string, struct{}]{
		idle: gatherIdle, longest: gatherLongest, most: maxEnds, do: p.terminateAll, closed: p.metrics.gathered(batchEnds),
	}
}

func load(ctx context.Context, cfg *Config) (sdk.Config, error) {
	if cfg.SDK != nil {
		if cfg.SDK.Region == "" {
			return sdk.Config{}, errors.New("configure AWS provider: the SDK configuration names no region")
		}
		return *cfg.SDK, nil
	}
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(callTimeout)),
		config.WithEC2IMDSRegion(),
		// Backoff with jitter, and a rate of its own that falls when AWS throttles.
		config.WithRetryMode(sdk.RetryModeAdaptive),
		config.WithRetryMaxAttempts(maxTries),
	}
	if cfg.Region != "" {
		options = append(options, config.WithRegion(cfg.Region))
	}
	if cfg.Endpoint != "" {
		options = append(options, config.WithBaseEndpoint(cfg.Endpoint))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return sdk.Config{}, fmt.Errorf("load AWS configuration: %w (outside of EC2, set AWS_REGION)", err)
	}
	if loaded.Region == "" {
		return sdk.Config{}, errors.New("load AWS configuration: no region; set AWS_REGION")
	}
	return loaded, nil
}

// Region is the region the provider works in.
func (p *Provider) Region() string { return p.region }

// Cluster is the name of the cluster that instances are launched for.
func (p *Provider) Cluster() string { return p.cfg.ClusterName }

// class finds a node class that is ready to launch from.
func (p *Provider) class(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
	class, err := p.cfg.Classes(ctx, name)
	switch {
	case err != nil && apierrors.IsNotFound(err), err == nil && class == nil:
		return nil, refuse(provider.ClassNotReady, "EC2NodeClass %s: no such object; create it, or correct the NodePool's nodeClassRef", name)
	case err != nil:
		return nil, refuse(provider.Unavailable, "read EC2NodeClass %s: %w", name, err)
	case !class.DeletionTimestamp.IsZero():
		return nil, refuse(provider.ClassNotReady, "EC2NodeClass %s: it is being deleted", name)
	}
	ready := meta.FindStatusCondition(class.Status.Conditions, awsv1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != class.Generation:
		return nil, refuse(provider.ClassNotReady, "EC2NodeClass %s: not resolved yet", name)
	case ready.Status != "True":
		return nil, refuse(provider.ClassNotReady, "EC2NodeClass %s: %s: %s", name, ready.Reason, ready.Message)
	}
	return class, nil
}
