package aws

import (
	"context"
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/dryrun"
	"spokeshave.dev/controller/cloud/aws/events"
	"spokeshave.dev/controller/cloud/aws/fleet"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/aws/refresh"
	"spokeshave.dev/controller/cloud/aws/resolve"
)

// New makes a provider. It calls nothing of AWS but the instance metadata
// service, and that only when no region is configured.
func New(ctx context.Context, cfg Config) (*Provider, error) {
	switch {
	case cfg.ClusterName == "":
		return nil, errors.New("configure AWS provider: no cluster name; set CLUSTER_NAME (settings.clusterName in the chart)")
	case cfg.Classes == nil || cfg.Clock == nil:
		return nil, errors.New("configure AWS provider: Classes and Clock are needed")
	}
	if cfg.NoReservations {
		cfg.Classes = withoutReservations(cfg.Classes)
	}
	loaded, err := client.Load(ctx, client.Location{Region: cfg.Region, Endpoint: cfg.Endpoint, SDK: cfg.SDK})
	if err != nil {
		return nil, err
	}
	if cfg.QuotaShare <= 0 {
		cfg.QuotaShare = client.DefaultShare
	}
	limited, err := client.Limit(loaded, cfg.QuotaShare, cfg.Metrics)
	if err != nil {
		return nil, err
	}
	p := &Provider{region: loaded.Region, cluster: cfg.ClusterName, classes: cfg.Classes, clock: cfg.Clock, driftCA: cfg.DriftCA}
	m, err := newMetrics(cfg.Metrics, p.zoneID)
	if err != nil {
		return nil, err
	}
	p.wire(&cfg, client.New(limited), m)
	return p, nil
}

// wire makes the parts and hands each those it uses.
func (p *Provider) wire(cfg *Config, api client.Services, m *metrics) {
	p.wireMarket(cfg, api, m)
	cluster := &resolve.Cluster{
		EKS: api.EKS, APIServer: cfg.APIServer, DNS: cfg.ClusterDNS, Clock: cfg.Clock, Log: cfg.Log,
		Configured: bootstrap.Cluster{
			Name: cfg.ClusterName, Endpoint: cfg.ClusterEndpoint, CA: cfg.ClusterCA,
			ServiceCIDR: cfg.ServiceCIDR, Version: cfg.KubernetesVersion,
		},
	}
	addresses := &availability.Addresses{}
	p.nodeClasses = &NodeClasses{
		cluster: cfg.ClusterName,
		network: &resolve.Network{EC2: api.EC2, Addresses: addresses, Clock: cfg.Clock},
		images: &resolve.Images{
			EC2: api.EC2, Parameters: &resolve.Parameters{SSM: api.SSM, Clock: cfg.Clock}, Kubernetes: cluster.Version, Clock: cfg.Clock,
		},
		groups:       p.placementGroups,
		profiles:     &resolve.Profiles{IAM: api.IAM, Cluster: cfg.ClusterName, Region: p.region, Clock: cfg.Clock},
		reservations: p.available.reservations,
		catalogue:    p.catalogue,
		templates:    &launchtemplate.Templates{EC2: api.EC2, Cluster: cfg.ClusterName, Clock: cfg.Clock},
		metrics:      m.launches,
	}
	p.instances = instances.New(instances.Config{
		EC2: api.EC2, Cluster: cfg.ClusterName, Clock: cfg.Clock, Batches: m.batches, Failures: m.notEnded, ZoneID: p.zoneID,
	})
	p.launcher = fleet.New(fleet.Config{
		EC2: api.EC2, Cluster: cfg.ClusterName, Clock: cfg.Clock, Concurrent: cfg.Claims, Written: cfg.Written, ClusterDetails: cluster.Details,
		Groups: p.nodeClasses.groups, Catalogue: p.catalogue, Templates: p.nodeClasses.templates, Instances: p.instances,
		Shortage: p.available.shortage, Reservations: p.available.reservations, Shifts: p.available.shifts, Addresses: addresses,
		Batches: m.batches, Metrics: m.launches,
	})
	p.dryRuns = dryrun.New(dryrun.Config{
		EC2: api.EC2, Clock: cfg.Clock, Catalog: p.catalogue.Of, Example: p.launcher.Example, Make: p.nodeClasses.templates.Make,
	})
	p.queue = &events.Queue{
		SQS: api.SQS, Name: cfg.InterruptionQueue, Clock: cfg.Clock, Log: cfg.Log, Metrics: m.queue, Interrupted: p.interrupted,
	}
	p.watch = &events.Watch{EC2: api.EC2, Instances: p.instances, Reservations: p.available.reservations, Clock: cfg.Clock}
}

// wireMarket makes what says what can be bought.
func (p *Provider) wireMarket(cfg *Config, api client.Services, m *metrics) {
	p.market = &market.Market{
		EC2: api.EC2, Pricing: api.Pricing, Region: p.region, Isolated: cfg.Isolated, Clock: cfg.Clock, Log: cfg.Log, Estimated: m.estimated,
	}
	p.placementGroups = &resolve.PlacementGroups{EC2: api.EC2, Clock: cfg.Clock}
	p.catalogue = &market.Catalogue{
		Strategy: func(class *awsv1.EC2NodeClass) string { return p.placementGroups.Known(class).Strategy },
		Market:   p.market, Memories: &market.Memories{Market: p.market}, Discounts: cfg.Discounts,
		ReservedENIs: cfg.ReservedENIs, PrefixDelegation: cfg.PrefixDelegation, MemoryOverhead: cfg.MemoryOverhead,
	}
	p.available = available{
		shortage:     &availability.Shortage{},
		reservations: &availability.Reservations{EC2: api.EC2, Clock: cfg.Clock, Off: cfg.NoReservations},
		shifts: &availability.ZonalShifts{
			EKS: api.EKS, ARC: api.ZonalShift, Cluster: cfg.ClusterName, Clock: cfg.Clock, Active: m.shifts,
		},
		shiftAge: &refresh.Source{What: "zonal shifts", Every: availability.ShiftsEvery},
	}
	p.sources = refresh.New(cfg.Clock, cfg.Log, m.sources, append(p.market.Sources(), p.available.reservations.Source())...)
}

// zoneID is the ID of a zone, empty when no class has a subnet there.
func (p *Provider) zoneID(zone string) string { return p.catalogue.ZoneID(zone) }

// metrics are those of all parts; without a registry they are nil and record nothing.
type metrics struct {
	batches   *batch.Metrics
	launches  *fleet.Metrics
	queue     *events.Metrics
	notEnded  *prometheus.CounterVec
	sources   *refresh.Metrics
	estimated prometheus.Gauge
	shifts    *prometheus.GaugeVec
}

func newMetrics(into prometheus.Registerer, zoneID func(string) string) (*metrics, error) {
	if into == nil {
		return &metrics{}, nil
	}
	m := &metrics{
		batches: batch.NewMetrics(), launches: fleet.NewMetrics(zoneID), queue: events.NewMetrics(),
		notEnded: instances.NewFailures(), sources: refresh.NewMetrics(), estimated: market.NewEstimated(), shifts: availability.NewActive(),
	}
	all := slices.Concat(m.batches.Collectors(), m.launches.Collectors(), m.queue.Collectors(), m.sources.Collectors(), []prometheus.Collector{m.notEnded, m.estimated, m.shifts})
	return m, client.Register(into, all...)
}
