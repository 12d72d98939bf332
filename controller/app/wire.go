package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/aws/upkeep"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/admission"
	"spokeshave.dev/controller/kube/announce"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/places"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/comparison"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/kube/reconcile/decision"
	"spokeshave.dev/controller/kube/reconcile/donotdisrupt"
	"spokeshave.dev/controller/kube/reconcile/drift"
	"spokeshave.dev/controller/kube/reconcile/expiration"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/garbage"
	"spokeshave.dev/controller/kube/reconcile/interruption"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/nodepool"
	"spokeshave.dev/controller/kube/reconcile/podevents"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
	"spokeshave.dev/controller/kube/reconcile/repair"
	"spokeshave.dev/controller/kube/reconcile/reservation"
	"spokeshave.dev/controller/kube/reconcile/static"
	"spokeshave.dev/controller/kube/reconcile/termination"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/observe"
	"spokeshave.dev/controller/record/web"
)

// components holds what the controllers are built from.
type components struct {
	options *Options
	mgr     manager.Manager
	cloud   *aws.Provider
	journal *journal.Journal
	// failures keeps decisions that met a defect.
	failures *journal.Failures
	// observed compares what a controller in mode Observe would have done with what
	// happened.
	observed *observe.Observer
	// board holds the data of the web page; nil without a page.
	board *web.Board
	clock clock.WithTicker
	// instances are what garbage collection found in the cloud last.
	instances cluster.Instances
	// places are what pods have taken of the places of announced ones.
	places *places.Book
	// spent is the ledger.
	spent *ledger.Tracker
	// records writes the ConfigMaps in which the controller keeps what outlives it.
	records client.Client
	// shared are the metrics that several controllers count.
	shared *metric.Reconcilers
}

// cloudName is the provider's name in metrics.
const cloudName = "aws"

// counted returns the cloud with metrics that count the calls of a controller.
func (p *components) counted(controller string) provider.Provider {
	return p.shared.Cloud(p.cloud, metric.Caller{Controller: controller, Provider: cloudName})
}

// eventsFrom is the name of the reporting controller in events.
const eventsFrom = "spokeshave"

// wire adds the decision loop and, in mode Act, the reconcilers that apply decisions.
func (p *components) wire(ctx context.Context) error {
	process, err := policies.NewProcess(metrics.Registry, p.mgr.GetLogger())
	if err != nil {
		return err
	}
	isolated := p.options.isolation(process)
	if err := p.validator(*isolated); err != nil {
		return err
	}
	if p.shared, err = metric.NewReconcilers(metrics.Registry); err != nil {
		return err
	}
	if err := metric.Build(metrics.Registry, Version); err != nil {
		return err
	}
	p.records = &configmap.Writer{
		Client: p.mgr.GetClient(), Events: p.events(), Clock: p.clock, Labels: p.options.RecordLabels,
		Metrics: configmap.NewMetrics(metrics.Registry),
	}
	if err := p.loop(ctx, isolated); err != nil {
		return err
	}
	if Mode(p.options.Mode) == Observe {
		left := &reservation.StaleReporter{Client: p.mgr.GetClient(), Events: p.events(), Clock: p.clock}
		if err := errors.Join(p.mgr.Add(left), p.mgr.Add(p.rewound(nil))); err != nil {
			return fmt.Errorf("add what looks at the cluster: %w", err)
		}
		return nil
	}
	guards := &admission.Watch{
		Live: p.mgr.GetAPIReader(), Events: p.events(), Clock: p.clock, Policies: p.options.AdmissionPolicies, Every: time.Minute,
		Metrics: admission.NewMetrics(metrics.Registry),
	}
	if err := p.mgr.Add(guards); err != nil {
		return fmt.Errorf("add the look at admission policies: %w", err)
	}
	return p.reconcilers()
}

// loop adds the policies and the decision loop.
func (p *components) loop(ctx context.Context, isolated *isolate.Config) error {
	settings, err := lower.Settings(p.options.PreferencePolicy, p.options.MinValuesPolicy, &p.options.MoveCost)
	if err != nil {
		return err
	}
	settings.SpotToSpot, settings.StaticCapacity = p.options.Gates.SpotToSpotConsolidation, p.options.Gates.StaticCapacity
	view, err := cluster.New(ctx, cluster.Config{
		Settings: settings,
		Name:     p.options.ClusterName, Cache: p.mgr.GetCache(), Live: p.mgr.GetAPIReader(),
		Announced: p.options.AnnouncedPods, Places: p.places,
		Clock: p.clock, Catalog: p.counted("provisioner").Catalog, Volumes: p.cloud.VolumePrices, Instances: &p.instances,
	})
	if err != nil {
		return err
	}
	if err := p.measureState(ctx, view); err != nil {
		return err
	}
	loaded := newLoader(p.options, p.clock, p.mgr.GetLogger(), isolated)
	if err := metrics.Registry.Register(policies.NewCollector(loaded)); err != nil {
		return fmt.Errorf("register metrics of policies: %w", err)
	}
	spent := &ledger.Tracker{
		Client: p.records, Live: p.mgr.GetAPIReader(), Events: p.events(),
		Namespace: p.options.Namespace, Clock: p.clock, ClockTolerance: 2 * time.Minute,
	}
	p.spent = spent
	if err := metrics.Registry.Register(ledger.NewCollector(spent)); err != nil {
		return fmt.Errorf("register metrics of the ledger: %w", err)
	}
	unmerged, err := p.unmergedRecorder()
	if err != nil {
		return err
	}
	log, err := decisionLog(p.options)
	if err != nil {
		return err
	}
	if log != nil {
		if err := p.mgr.Add(log); err != nil {
			return fmt.Errorf("add the decision log: %w", err)
		}
	}
	if err := p.webPage(loaded, spent); err != nil {
		return err
	}
	loop := decision.New(decision.Config{
		Log:        log,
		CountSpend: spent.Count,
		CountSaved: spent.CountSaved,
		Cluster:    view,
		Actuator: &actuate.Actuator{Client: p.mgr.GetClient(), Places: p.places, Reporter: &actuate.Reporter{
			Client: p.mgr.GetClient(), Events: p.events(), Unmerged: unmerged, Namespace: p.options.Namespace,
		}},
		Policies: loaded,
		Journal:  p.journal,
		Failures: p.failures,
		Observed: p.observer(),
		Board:    p.board,
		Metrics:  metric.NewDecisions(metrics.Registry, p.shared),
		Clock:    p.clock,
		Idle:     p.options.BatchIdle, Max: p.options.BatchMax, Rollout: p.options.BatchRollout, Every: p.options.Interval,
	})
	revisions, err := policies.NewRevisions(metrics.Registry)
	if err != nil {
		return err
	}
	reconciler := &policies.Reconciler{
		Client: p.records, Live: p.mgr.GetAPIReader(), Events: p.events(), Loader: loaded,
		Namespace: p.options.Namespace, Plugins: p.options.PluginNamespaces, Leading: p.leading, Changed: loop.Wake, Clock: p.clock,
		Revisions: revisions,
	}
	status := &policies.StatusWriter{
		Client: p.records, Loader: loaded, Namespace: p.options.Namespace, Clock: p.clock, Every: 2 * time.Second,
	}
	refresher, err := p.refresher(loop)
	if err != nil {
		return err
	}
	loop.Await = func(ctx context.Context) error {
		refresher.Await(ctx)
		return reconciler.Await(ctx)
	}
	dog := &watchdog{busy: loop.Busy, limit: stuckAfter, clock: p.clock}
	if err := dog.addTo(p.mgr); err != nil {
		return err
	}
	if err := p.watchZonalShifts(loop); err != nil {
		return err
	}
	if err := errors.Join(reconciler.SetupWithManager(p.mgr), p.mgr.Add(status), p.mgr.Add(loop), p.wakeOnChanges(ctx, loop, view.Announcer)); err != nil {
		return fmt.Errorf("add the decision loop: %w", err)
	}
	return nil
}

// observer returns the function that records decisions in mode Observe; nil in mode
// Act.
func (p *components) observer() func(context.Context, *model.Snapshot, *decide.Decision) error {
	if Mode(p.options.Mode) != Observe {
		return nil
	}
	tracker := &comparison.Tracker{
		Store: configmap.Store{
			Client: p.records, Live: p.mgr.GetAPIReader(), Namespace: p.options.Namespace, Name: comparison.Name, Key: comparison.Key,
		},
		Observer: p.observed, Events: p.events(), Clock: p.clock,
	}
	return tracker.Add
}

// refresher adds what reads types, prices and reservations in the background.
func (p *components) refresher(loop *decision.Loop) (*upkeep.Refresher, error) {
	out := &upkeep.Refresher{
		Client: p.mgr.GetClient(), Sources: p.cloud.Sources(), Events: p.events(), Clock: p.clock,
		Leading: func() bool { return Mode(p.options.Mode) == Act && p.leading() }, Changed: loop.Wake,
	}
	if err := p.mgr.Add(out); err != nil {
		return nil, fmt.Errorf("add the refresh of types and prices: %w", err)
	}
	return out, nil
}

// watchZonalShifts adds the watch on zonal shifts, if it is enabled.
func (p *components) watchZonalShifts(loop *decision.Loop) error {
	if !p.options.EnableZonalShift {
		return nil
	}
	err := p.mgr.Add(&upkeep.Shifts{
		Client: p.mgr.GetClient(), Ask: p.cloud.ZonalShifts, Events: p.events(), Clock: p.clock,
		Leading: func() bool { return Mode(p.options.Mode) == Act && p.leading() }, Changed: loop.Wake,
	})
	if err != nil {
		return fmt.Errorf("add zonal shifts: %w", err)
	}
	return nil
}

// events returns a recorder for events that are merged with their repetitions.
func (p *components) events() events.EventRecorder {
	return announce.Bounded(p.mgr.GetEventRecorder(eventsFrom))
}

// unmergedRecorder returns a recorder for events that go to many objects. It has its own rate
// limit, half of that of all other requests.
func (p *components) unmergedRecorder() (*announce.Recorder, error) {
	cfg := rest.CopyConfig(p.mgr.GetConfig())
	cfg.QPS, cfg.Burst = p.options.QPS/2, p.options.Burst/2
	c, err := client.New(cfg, client.Options{Scheme: p.mgr.GetScheme(), Mapper: p.mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("connect for events: %w", err)
	}
	recorder, err := announce.New(c, eventsFrom, p.clock, metrics.Registry)
	if err != nil {
		return nil, err
	}
	if err := p.mgr.Add(recorder); err != nil {
		return nil, fmt.Errorf("add events: %w", err)
	}
	return recorder, nil
}

// reconcilers adds the reconcilers that apply decisions.
func (p *components) reconcilers() error {
	c, recorder := p.mgr.GetClient(), p.events()
	classes := &nodeclass.Reconciler{
		Resolver: p.classResolver(), Client: c, Events: recorder, DriftCA: p.cloud.DriftCA(), Interval: p.resolveEvery(),
	}
	if err := metrics.Registry.Register(classes.Ages); err != nil {
		return fmt.Errorf("register the ages of EC2NodeClasses: %w", err)
	}
	launched, launches := garbage.OnLaunch()
	outcomes, reservations := &poolhealth.Outcomes{}, reservation.New(c, p.clock)
	claims := &lifecycle.Reconciler{
		Client: c, Provider: p.counted("nodeclaim.lifecycle"), Events: recorder, Clock: p.clock,
		Reservations: reservations, Outcomes: outcomes, Workers: p.options.Workers, OnLaunch: launched, Metrics: p.shared,
	}
	nodes := &termination.Reconciler{Client: c, Provider: p.counted("node.termination"), Events: recorder, Clock: p.clock, Workers: p.options.Workers, Metrics: p.shared}
	pools := &nodepool.Reconciler{Client: c, Events: recorder, Clock: p.clock, Outcomes: outcomes}
	stops := &breaker.Breaker{
		Client: p.records, Live: p.mgr.GetAPIReader(), Events: recorder, Namespace: p.options.Namespace, Clock: p.clock,
		Percent: p.options.BreakerPercent, Metrics: breaker.NewMetrics(metrics.Registry),
	}
	p.spent.Restored = func() (found, good time.Time) { return breaker.Restored(stops) }
	drifts := &drift.Reconciler{
		Client: c, Provider: p.counted("nodeclaim.disruption"), Clock: p.clock, Breaker: stops, Version: Version,
		Drifter: p.shared.Drifter(p.cloud, metric.Caller{Controller: "nodeclaim.disruption", Provider: cloudName}),
	}
	ender := &forceful.Deleter{Client: c, Clock: p.clock, Metrics: p.shared}
	expiry := &expiration.Reconciler{Deleter: ender, Events: recorder, Clock: p.clock, Client: c, Breaker: stops}
	interruptions := &interruption.Watcher{
		Client: c, Source: p.cloud, Events: recorder, Deleter: ender, Clock: p.clock,
		Metrics: interruption.NewMetrics(metrics.Registry), Rebalance: p.options.DrainOnRebalance, Every: time.Minute,
	}
	podEvents := &podevents.Reconciler{Client: c, Clock: p.clock}
	holds := &donotdisrupt.Reconciler{Client: c, Events: recorder, Clock: p.clock}
	collector := &garbage.Collector{
		Client: c, Live: p.mgr.GetAPIReader(), Provider: p.counted("nodeclaim.garbagecollection"), Clock: p.clock, Every: 10 * time.Second, Rest: 2 * time.Minute,
		Listed: p.instances.Set, Unclaimed: p.instances.SetUnclaimed, Breaker: stops, Launches: launches,
	}
	if p.options.Gates.StaticCapacity {
		statics := &static.Reconciler{Client: c, Live: p.mgr.GetAPIReader(), Events: recorder, Clock: p.clock, Deleter: ender}
		if err := statics.SetupWithManager(p.mgr); err != nil {
			return fmt.Errorf("add static pools: %w", err)
		}
	}
	if p.options.Gates.NodeRepair {
		repairs := &repair.Reconciler{Client: c, Events: recorder, Clock: p.clock, Deleter: ender, Metrics: repair.NewMetrics(metrics.Registry, p.shared)}
		if err := repairs.SetupWithManager(p.mgr); err != nil {
			return fmt.Errorf("add node repair: %w", err)
		}
	}
	if p.options.AnnouncedPods {
		if err := (&reservation.Arrivals{Reservations: reservations, Places: p.places}).SetupWithManager(p.mgr); err != nil {
			return fmt.Errorf("add arrivals: %w", err)
		}
	}
	memory := &upkeep.Memory{Client: c, Learn: p.cloud.LearnMemory}
	partitions := &upkeep.Partition{Client: c, Get: p.cloud.Get}
	tagger := &upkeep.Tagger{Client: c, Tag: p.cloud.TagClaim}
	sweeper := &upkeep.Sweeper{Client: c, Cloud: p.cloud.NodeClasses(), Clock: p.clock}
	err := errors.Join(
		memory.SetupWithManager(p.mgr), partitions.SetupWithManager(p.mgr), tagger.SetupWithManager(p.mgr), p.mgr.Add(sweeper),
		classes.SetupWithManager(p.mgr), claims.SetupWithManager(p.mgr), nodes.SetupWithManager(p.mgr),
		pools.SetupWithManager(p.mgr), podEvents.SetupWithManager(p.mgr), holds.SetupWithManager(p.mgr), drifts.SetupWithManager(p.mgr), expiry.SetupWithManager(p.mgr), p.mgr.Add(collector), p.mgr.Add(interruptions),
		p.mgr.Add(&reservation.Releaser{Client: c, Clock: p.clock}), p.mgr.Add(p.rewound(stops)),
	)
	if err != nil {
		return fmt.Errorf("add reconcilers: %w", err)
	}
	return nil
}

// resolveEvery is how often an EC2NodeClass is resolved again.
func (p *components) resolveEvery() time.Duration {
	return min(p.options.AMIRefresh, p.options.SubnetRefresh)
}

// classResolver returns what resolves EC2NodeClasses.
func (p *components) classResolver() *nodeclass.Resolver {
	out := &nodeclass.Resolver{Cloud: p.cloud.NodeClasses(), Clock: p.clock.Now, Ages: nodeclass.NewAges(p.clock.Now, p.resolveEvery())}
	if !p.options.DisableDryRun {
		out.DryRuns = p.cloud.DryRuns()
	}
	return out
}

// leading reports whether this replica is the leader.
func (p *components) leading() bool {
	select {
	case <-p.mgr.Elected():
		return true
	default:
		return false
	}
}
