package failclosed

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/brokenpolicy"
	"spokeshave.dev/test/kit/instancetype"
)

// setting is one way in which something fails. The zero value is a controller without
// policies, all of whose parts are well.
type setting struct {
	name string
	kind brokenpolicy.Kind
	// namespace is that of the policy, "" the controller's; scope is what the administrator
	// permits there, and given the namespace to which the NodePool is given.
	namespace string
	scope     policy.Scope
	given     string
	// revisions are the contents of the policy's ConfigMap, in their order.
	revisions []brokenpolicy.Contents
	required  []string
	// engines are those of the product unless they are set.
	engines map[string]policy.Engine
	// before is called before the policy is loaded. earlier are decisions before the one
	// that counts, and between is called after them.
	before  func(*testing.T)
	earlier []*model.Snapshot
	between func(*testing.T)
	// now is the time of the decision that counts, and count writes into its snapshot what
	// has been spent; nothing has been without it.
	now   time.Time
	count func(context.Context, *model.Snapshot) error
	// fault is the only kind with which the policy faults in the decision that counts, ""
	// for any.
	fault policy.FaultKind
}

// moment is the time of decisions.
var moment = time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)

// outcome loads the policy, makes the decisions, and returns what the last ones decide
// and why pods wait.
func (in *setting) outcome(t *testing.T) (got result, reasons []string) {
	t.Helper()
	if in.before != nil {
		in.before(t)
	}
	l := in.load(t)
	d := decider{loader: l, given: in.given, count: in.count}
	for _, s := range in.earlier {
		d.decide(t, s)
	}
	if in.between != nil {
		in.between(t)
	}
	d.kinds = map[policy.FaultKind]bool{}
	now := in.now
	if now.IsZero() {
		now = moment
	}
	for _, s := range []*model.Snapshot{waiting(now), empty(now)} {
		made := d.decide(t, s)
		got.launched += len(made.Plan.Nodes)
		got.removed = got.removed || slices.ContainsFunc(made.Disruptions, func(x decide.Disruption) bool { return x.Go })
		for i := range made.Plan.Unplaced {
			for _, r := range made.Plan.Unplaced[i].Reasons {
				reasons = append(reasons, r.Message)
			}
		}
	}
	loaded := l.InForce(load.Key{Namespace: cmp.Or(in.namespace, own), Name: "p"}) != ""
	if kinds := slices.Collect(maps.Keys(d.kinds)); in.fault != "" && loaded && !slices.Equal(kinds, []policy.FaultKind{in.fault}) {
		t.Errorf("it faults with %v, want %s", kinds, in.fault)
	}
	return got, reasons
}

// load returns a loader with the policy.
func (in *setting) load(t *testing.T) *load.Loader {
	t.Helper()
	cfg := load.Config{Namespace: own, Scopes: map[string]policy.Scope{team: in.scope}, Engines: in.engines, Required: in.required, Now: func() time.Time { return moment }}
	if cfg.Engines == nil {
		cfg.Engines = engine.All()
	}
	l := load.New(cfg)
	namespace := cmp.Or(in.namespace, own)
	for _, c := range in.revisions {
		_, _ = l.Apply(t.Context(), c.ConfigMap(namespace, "p")) // rejected, in most rows
	}
	t.Cleanup(func() {
		if _, err := l.Delete(context.WithoutCancel(t.Context()), load.Key{Namespace: namespace, Name: "p"}); err != nil {
			t.Error(err)
		}
	})
	return l
}

// decider makes decisions one after the other, as the loop does.
type decider struct {
	loader *load.Loader
	given  string
	count  func(context.Context, *model.Snapshot) error
	caps   map[string]map[string]policy.Cap
	// kinds are the kinds of the faults.
	kinds map[policy.FaultKind]bool
}

func (d *decider) decide(t *testing.T, s *model.Snapshot) decide.Decision {
	t.Helper()
	if d.given != "" {
		s.Pools[0].Labels = map[string]string{policy.LabelPluginNamespace: d.given}
	}
	if d.count != nil {
		if err := d.count(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	out, err := decide.Decide(t.Context(), s, d.loader.Policies(), decide.Options{Missing: d.loader.Missing(), LastCaps: d.caps, Disrupt: true})
	if err != nil {
		t.Fatal(err)
	}
	if out.Caps != nil {
		d.caps = out.Caps
	}
	for i := range out.Policies {
		for kind := range out.Policies[i].Kinds {
			if d.kinds != nil {
				d.kinds[kind] = true
			}
		}
	}
	return out
}

// bare is a cluster with a NodePool and nothing else. A node costs 0.20 $ per hour and has room for
// one pod.
func bare(now time.Time) *model.Snapshot {
	return &model.Snapshot{
		Time: now, Seed: 7, Spent: []model.Spent{},
		Catalogs: []model.Catalog{instancetype.Catalog(instancetype.New("m.large", 4000, 16, 50, instancetype.OnDemand("a", 200_000)))},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default", Disruption: model.Disruption{AllowedEmpty: 10}}},
		Specs:    []model.PodSpec{{Namespace: "shop", Requests: model.Resources{model.CPU: 3000, model.Memory: 1 << 30, model.PodSlots: 1}}},
	}
}

// empty is a cluster with a node that nobody uses.
func empty(now time.Time) *model.Snapshot {
	s := bare(now)
	s.Nodes = []model.Node{{Name: "n", Claim: "n", State: model.Initialized, Price: 200_000, LaunchedAt: s.Time.Add(-time.Hour)}}
	return s
}

// waiting is a cluster with two pods that wait.
func waiting(now time.Time) *model.Snapshot {
	s := bare(now)
	s.Pods = []model.Pod{{UID: "a", Namespace: "shop", Name: "a", Node: -1}, {UID: "b", Namespace: "shop", Name: "b", Node: -1}}
	return s
}

// busy is waiting with a node that is full.
func busy(now time.Time) *model.Snapshot {
	s := waiting(now)
	s.Nodes = empty(now).Nodes
	s.Pods = append(s.Pods, model.Pod{UID: "c", Namespace: "shop", Name: "c", Node: 0})
	return s
}
