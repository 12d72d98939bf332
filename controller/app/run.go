package app

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/places"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/termination"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/observe"
)

// journalSize is how many decisions the journal keeps in memory.
const journalSize = 200

// Scheme returns a scheme with every kind that the controller reads or writes.
func Scheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), karpv1.AddToScheme(s), awsv1.AddToScheme(s)); err != nil {
		return nil, fmt.Errorf("build scheme: %w", err)
	}
	return s, nil
}

// Run runs the controller. It returns when the context ends, or with an error when it
// cannot start or has lost its lease.
func Run(ctx context.Context, o *Options, cfg *rest.Config, log logr.Logger) error {
	o.limitMemory()
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst = o.QPS, o.Burst
	cfg.UserAgent = "spokeshave/" + Version
	cfg.Wrap(termination.WithoutRetryAfter)
	ctrl.SetLogger(log)
	ctx = logr.NewContext(ctx, log)
	decisions := journal.New(journalSize, int(o.JournalMemory.Bytes))
	failures := &journal.Failures{Namespace: o.Namespace}
	observed := &observe.Observer{}
	mgr, err := newManager(ctx, o, cfg)
	if err != nil {
		return err
	}
	if err := index.Register(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	cloud, err := newProvider(ctx, o, mgr, log)
	if err != nil {
		return err
	}
	if err := serve(o, mgr, map[string]http.Handler{"/decisions": decisions, "/failures": failures, "/observed": observed}); err != nil {
		return err
	}
	built := &components{options: o, mgr: mgr, cloud: cloud, journal: decisions, failures: failures, observed: observed, clock: clock.RealClock{}, places: places.New(clock.RealClock{})}
	if err := built.wire(ctx); err != nil {
		return err
	}
	log.Info("starting", "version", Version, "mode", o.Mode, "cluster", o.ClusterName)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run controllers: %w", err)
	}
	return nil
}

// newManager makes a manager that logs with the logger of ctx. What it runs gets the values of ctx, that logger for one, and
// ends when the manager does, not with ctx.
func newManager(ctx context.Context, o *Options, cfg *rest.Config) (manager.Manager, error) {
	log := logr.FromContextOrDiscard(ctx)
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	leases, err := newLock(o, cfg, log)
	if err != nil {
		return nil, err
	}
	renew, retry, lease := 10*time.Second, 2*time.Second, 15*time.Second
	graceful := 20 * time.Second // less than a pod is given by default: the leases are released even when the loop is stuck
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme,
		Logger: log,
		// The contexts of runnables are made from this one, not from that of Start.
		BaseContext:                         func() context.Context { return context.WithoutCancel(ctx) },
		Cache:                               cacheOptions(o),
		LeaderElection:                      !o.DisableLeaderElection,
		LeaderElectionResourceLockInterface: leases,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       &lease,
		RenewDeadline:                       &renew,
		RetryPeriod:                         &retry,
		GracefulShutdownTimeout:             &graceful,
		HealthProbeBindAddress:              address(o.HealthProbePort),
		Metrics:                             metricsserver.Options{BindAddress: address(0)}, // serve does
	})
	if err != nil {
		return nil, fmt.Errorf("make manager: %w", err)
	}
	synced := func(r *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(r.Context()) {
			return errors.New("caches are not synced")
		}
		return nil
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", synced)); err != nil {
		return nil, fmt.Errorf("add probes: %w", err)
	}
	return mgr, nil
}

func address(port int) string {
	if port == 0 {
		return "0" // controller-runtime's value for no server
	}
	return net.JoinHostPort("", strconv.Itoa(port))
}

// cacheOptions returns options that keep the cache small: only labelled ConfigMaps of
// the policy namespaces, no managed fields, and no copies when pods, nodes and
// NodeClaims are read.
func cacheOptions(o *Options) cache.Options {
	namespaces := map[string]cache.Config{o.Namespace: {}}
	for _, ns := range o.PluginNamespaces {
		namespaces[ns] = cache.Config{}
	}
	noCopy, alike := true, newTemplates()
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:         {UnsafeDisableDeepCopy: &noCopy, Transform: alike.trimPod},
			&corev1.Node{}:        {UnsafeDisableDeepCopy: &noCopy, Transform: alike.trimNode},
			&karpv1.NodeClaim{}:   {UnsafeDisableDeepCopy: &noCopy, Transform: alike.trimClaim},
			&appsv1.ReplicaSet{}:  {UnsafeDisableDeepCopy: &noCopy, Transform: trimOwner},
			&appsv1.StatefulSet{}: {UnsafeDisableDeepCopy: &noCopy, Transform: trimOwner},
			&batchv1.Job{}:        {UnsafeDisableDeepCopy: &noCopy, Transform: trimOwner},
			&corev1.ConfigMap{}: {
				Namespaces: namespaces,
				Label:      labels.SelectorFromSet(labels.Set{karpv1.LabelPolicy: "true"}),
			},
		},
	}
}

func newProvider(ctx context.Context, o *Options, mgr manager.Manager, log logr.Logger) (*aws.Provider, error) {
	discounts, err := readDiscounts(o.PriceDiscounts)
	if err != nil {
		return nil, err
	}
	driftCA, err := driftCA(o, mgr.GetConfig())
	if err != nil {
		return nil, err
	}
	return aws.New(ctx, aws.Config{
		Region: o.AWSRegion, Endpoint: o.AWSEndpoint,
		ClusterName: o.ClusterName, ClusterEndpoint: o.ClusterEndpoint, ClusterCA: o.ClusterCABundle,
		DriftCA:    driftCA,
		APIServer:  func(context.Context) (version, ca string, err error) { return apiServer(mgr.GetConfig()) },
		ClusterDNS: func(ctx context.Context) (string, error) { return clusterDNS(ctx, mgr.GetAPIReader()) },
		Classes: func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
			class := &awsv1.EC2NodeClass{}
			err := mgr.GetClient().Get(ctx, types.NamespacedName{Name: name}, class)
			return class, err
		},
		Written: func(ctx context.Context, claim string) (provider.Attempt, error) {
			return lifecycle.Written(ctx, mgr.GetAPIReader(), claim)
		},
		Clock:  clock.RealClock{}.Now,
		Log:    log.WithName("aws"),
		Claims: o.Workers,

		Metrics:           metrics.Registry,
		InterruptionQueue: o.InterruptionQueue,
		Isolated:          o.IsolatedVPC,
		NoReservations:    o.Gates.NoReservedCapacity,
		ReservedENIs:      o.ReservedENIs,
		PrefixDelegation:  o.PrefixDelegation,
		MemoryOverhead:    &o.MemoryOverheadPercent,
		Discounts:         discounts,
	})
}

// apiServer returns the version (major.minor) and the CA certificate (base64) of the
// API server to which the controller is connected.
func apiServer(cfg *rest.Config) (version, ca string, err error) {
	asked, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return "", "", fmt.Errorf("ask the API server for its version: %w", err)
	}
	said, err := asked.ServerVersion()
	if err != nil {
		return "", "", fmt.Errorf("ask the API server for its version: %w", err)
	}
	ca, err = connectionCA(cfg)
	return said.Major + "." + strings.TrimSuffix(said.Minor, "+"), ca, err
}

// connectionCA returns the CA certificate (base64) with which a connection to the API
// server is verified, "" when there is none.
func connectionCA(cfg *rest.Config) (string, error) {
	withCA := rest.CopyConfig(cfg)
	if err := rest.LoadTLSFiles(withCA); err != nil {
		return "", fmt.Errorf("read the API server's CA: %w", err)
	}
	return base64.StdEncoding.EncodeToString(withCA.CAData), nil
}

// driftCA returns the CA certificate that is part of the drift hash of node classes:
// the configured one, else that of the controller's own connection.
func driftCA(o *Options, cfg *rest.Config) (string, error) {
	if o.ClusterCABundle != "" {
		return o.ClusterCABundle, nil
	}
	return connectionCA(cfg)
}

func readDiscounts(file string) ([]market.Discount, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read --price-discounts: %w", err)
	}
	out, err := market.ParseDiscounts(text)
	if err != nil {
		return nil, fmt.Errorf("--price-discounts %s: %w", file, err)
	}
	return out, nil
}
