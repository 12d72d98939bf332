package simulator

import (
	"spokeshave.dev/simulator/ec2"
	"spokeshave.dev/simulator/eks"
	"spokeshave.dev/simulator/fault"
	"spokeshave.dev/simulator/iam"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/pricing"
	"spokeshave.dev/simulator/sqs"
	"spokeshave.dev/simulator/ssm"
	"spokeshave.dev/simulator/sts"
	"spokeshave.dev/simulator/throttle"
	"spokeshave.dev/simulator/zonalshift"
)

// world is everything that a reset forgets: the services with their state.
type world struct {
	faults  *fault.Schedule
	market  *market.Market
	ec2     *ec2.Service
	iam     *iam.Service
	sqs     *sqs.Service
	buckets throttle.Buckets
	pricing *pricing.Service
	shifts  *zonalshift.Service
	// operations are by service, as credential scopes name it, and action.
	operations map[string]map[string]operation.Operation
	// access is what a call to a service needs to be allowed.
	access map[string]func(*operation.Call) []policy.Request
}

// newWorld is a world in which nothing has happened. arrived is called when a
// message reaches a queue.
func newWorld(cfg *Config, source *ids.Source, arrived func()) *world {
	account := ids.Account{ID: cfg.Account, Region: cfg.Region}
	w := &world{faults: &fault.Schedule{}, market: market.New(cfg.Region, cfg.Types, cfg.Sales, cfg.Clock.Now())}
	w.iam = iam.New(account, source, cfg.NodeRoles)
	w.sqs = sqs.New(account, source, arrived, cfg.Queue)
	w.pricing = pricing.New(cfg.Region, source, w.market)
	w.shifts = zonalshift.New(account, source, w.market, cfg.Cluster)
	w.ec2 = ec2.New(ec2.Config{
		Account: account, IDs: source, Market: w.market, Profiles: w.iam, Faults: w.faults,
		Cluster: cfg.Cluster, KubernetesVersion: cfg.KubernetesVersion, FleetAttempts: cfg.FleetAttempts, Limits: cfg.Limits,
		Pace:  ec2.Pace{Pending: cfg.PendingDelay, Shutdown: cfg.ShutdownDelay, Lag: cfg.Lag},
		Quota: ec2.Quota{OnDemandVCPUs: cfg.OnDemandVCPUs, SpotVCPUs: cfg.SpotVCPUs},
	})
	cluster := eks.Cluster{Name: cfg.Cluster, Version: cfg.KubernetesVersion, Endpoint: cfg.ClusterEndpoint, CA: cfg.ClusterCA}
	cluster.VPC, cluster.Subnets, cluster.SecurityGroup = w.ec2.Network()
	images, published := w.ec2.Parameters()
	w.operations = map[string]map[string]operation.Operation{
		"ec2":             w.ec2.Operations(),
		"iam":             w.iam.Operations(),
		"sts":             sts.Operations(account),
		"ssm":             ssm.New(cfg.Region, images, published).Operations(),
		"sqs":             w.sqs.Operations(),
		"pricing":         w.pricing.Operations(),
		"eks":             eks.New(account, cluster).Operations(),
		"arc-zonal-shift": w.shifts.Operations(),
	}
	w.access = map[string]func(*operation.Call) []policy.Request{"ec2": w.ec2.Access, "iam": w.iam.Access}
	return w
}
