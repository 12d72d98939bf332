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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/provider"
)

// callTimeout bounds one try of one AWS call; the SDK repeats it with backoff
// and jitter.
const callTimeout = 30 * time.Second

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

	// Classes finds a node class by name; a NotFound error or nil is a class
	// that does not exist.
	Classes func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	// Clock is time.Now outside of tests.
	Clock func() time.Time
	Log   logr.Logger

	// Isolated keeps to the embedded prices for on-demand, for networks that
	// cannot reach the Price List service.
	Isolated bool
	// ReservedENIs are interfaces per instance that pods cannot use.
	ReservedENIs int
	// MemoryOverhead is the share of memory that the hypervisor keeps; nil is
	// the catalogue's default.
	MemoryOverhead *float64
}

// Provider implements provider.Provider on EC2. Make it with New.
type Provider struct {
	cfg      Config
	sdk      SDK
	region   string
	market   market
	shortage shortage
	cluster  clusterCache

	mu sync.Mutex
	// lowered keeps the last catalogue of each class.
	lowered map[string]lowered
	// templates and profiles are those known to exist, until when.
	templates map[string]time.Time
	profiles  map[string]time.Time
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
	return &Provider{
		cfg: cfg, sdk: NewSDK(withPlainBodies(loaded)), region: loaded.Region,
		shortage:   shortage{until: map[offering]time.Time{}},
		lowered:    map[string]lowered{},
		templates:  map[string]time.Time{},
		profiles:   map[string]time.Time{},
		parameters: map[string]parameterValue{},
		recent:     map[string]sighting{},
	}, nil
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
