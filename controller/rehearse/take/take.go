package take

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/record/anonymize"
	"spokeshave.dev/controller/rehearse/scenario"
)

// Config says what to read from which cluster.
type Config struct {
	Access remote.Access
	// Namespace is the controller's own, which holds the guardrail policies.
	Namespace string
	// Plugins are further namespaces whose policies are read. Namespaces from which the
	// controller has loaded policies, by its status, are always read.
	Plugins []string
	// Cluster names the snapshot's cluster.
	Cluster string
	Time    time.Time
	// Catalog is a file with the catalogue. When empty, the embedded one of Region is
	// used, or of the region of the nodes.
	Catalog, Region string
	// PreferencePolicy and MinValuesPolicy are the controller's settings; empty for its
	// defaults.
	PreferencePolicy, MinValuesPolicy string
	// MoveCost is the controller\'s setting, in USD/hour; nil for its default.
	MoveCost *float64
	// Anonymize replaces names and leaves policies out.
	Anonymize bool
}

// Result is a snapshot, with warnings about it.
type Result struct {
	Taken    *scenario.Taken
	Warnings []string
}

// Snapshot takes the snapshot.
func Snapshot(ctx context.Context, cfg *Config) (*Result, error) {
	settings, err := lower.Settings(cfg.PreferencePolicy, cfg.MinValuesPolicy, cfg.MoveCost)
	if err != nil {
		return nil, err
	}
	opts := scenario.Options{
		Time: cfg.Time, Seed: seed(cfg), Cluster: cfg.Cluster, Live: true, Settings: settings, Region: cfg.Region,
	}
	if cfg.Catalog != "" {
		raw, err := scenario.ReadFile(cfg.Catalog)
		if err != nil {
			return nil, err
		}
		c, err := catalog.Read(cfg.Catalog, raw)
		if err != nil {
			return nil, err
		}
		opts.Catalog = &c
	}
	l, err := connect(cfg.Access)
	if err != nil {
		return nil, err
	}
	objects, err := read(ctx, l, cfg)
	if err != nil {
		return nil, err
	}
	t, err := objects.Take(opts)
	if err != nil {
		return nil, err
	}
	out := &Result{Taken: t, Warnings: l.missed}
	for _, w := range objects.Warnings {
		out.Warnings = append(out.Warnings, w.Message)
	}
	if cfg.Anonymize {
		if err := hide(out); err != nil {
			return nil, err
		}
	}
	return out, t.SetDigest()
}

// seed returns a seed that is the same for the same cluster and time.
func seed(cfg *Config) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", cfg.Cluster, cfg.Time.UnixNano()) // a hash does not fail
	return h.Sum64()
}

func connect(a remote.Access) (*lister, error) {
	cfg, err := remote.Config(a)
	if err != nil {
		return nil, err
	}
	cfg.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	return &lister{client: client}, nil
}

// read lists the objects of which a snapshot is made.
func read(ctx context.Context, l *lister, cfg *Config) (*scenario.Objects, error) {
	o := &scenario.Objects{}
	err := errors.Join(
		into(ctx, l, &o.NodePools, "/apis/karpenter.sh/v1/nodepools", false),
		into(ctx, l, &o.NodeClaims, "/apis/karpenter.sh/v1/nodeclaims", false),
		into(ctx, l, &o.NodeClasses, "/apis/karpenter.k8s.aws/v1/ec2nodeclasses", true),
		into(ctx, l, &o.Nodes, "/api/v1/nodes", false),
		into(ctx, l, &o.Pods, "/api/v1/pods", false),
		into(ctx, l, &o.DaemonSets, "/apis/apps/v1/daemonsets", false),
		into(ctx, l, &o.Namespaces, "/api/v1/namespaces", true),
		into(ctx, l, &o.LimitRanges, "/api/v1/limitranges", true),
		into(ctx, l, &o.RuntimeClasses, "/apis/node.k8s.io/v1/runtimeclasses", true),
		into(ctx, l, &o.PriorityClasses, "/apis/scheduling.k8s.io/v1/priorityclasses", true),
		into(ctx, l, &o.VolumeClaims, "/api/v1/persistentvolumeclaims", true),
		into(ctx, l, &o.Volumes, "/api/v1/persistentvolumes", true),
		into(ctx, l, &o.StorageClasses, "/apis/storage.k8s.io/v1/storageclasses", true),
		into(ctx, l, &o.CSINodes, "/apis/storage.k8s.io/v1/csinodes", true),
		into(ctx, l, &o.Budgets, "/apis/policy/v1/poddisruptionbudgets", true),
	)
	if err != nil {
		return nil, err
	}
	for _, np := range o.NodePools {
		np.SetDefaults()
	}
	if !cfg.Anonymize {
		if o.Policies, err = policies(ctx, l, cfg); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func into[T any](ctx context.Context, l *lister, to *[]*T, path string, optional bool) error {
	var err error
	*to, err = list[T](ctx, l, path, "", optional)
	return err
}

// hide anonymizes a result, its warnings included.
func hide(r *Result) error {
	s, name, err := anonymize.Snapshot(&r.Taken.Snapshot)
	if err != nil {
		return err
	}
	r.Taken.Snapshot, r.Taken.Policies = s, nil
	for i := range r.Taken.NodeCosts {
		r.Taken.NodeCosts[i].NodeClass = name(r.Taken.NodeCosts[i].NodeClass)
	}
	return nil
}
