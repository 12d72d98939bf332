package restart

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/decision"
	"spokeshave.dev/controller/kube/reconcile/garbage"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/reservation"
	"spokeshave.dev/controller/kube/reconcile/termination"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/test/kit/apiserver"
)

// death is a write at which a controller dies.
type death struct {
	// verb is create, patch, status, delete or evict; kind NodeClaim, Node or
	// Pod; old says that it is about one of the nodes that go.
	verb, kind string
	old        bool
	// nth counts such writes from 1; 0 is the first as well.
	nth int
	// after lets the write through: only its answer is lost.
	after bool
}

var errDead = errors.New("the controller is dead")

// life is a controller from its start to its death.
type life struct {
	loop    *decision.Loop
	garbage *garbage.Collector
	stop    func()
	swap    sometimes
	// late is by how much the life of claims is ahead of ours: nobody waits a
	// quarter of an hour for a node that does not come.
	late   atomic.Int64
	claims *lifecycle.Reconciler
	// cache is what it has seen of the cluster.
	cache client.Reader

	mu   sync.Mutex
	at   *death
	seen int
	dead bool
}

// round is one decision and what follows from it. It gives up before the whole test
// does: a round of a controller that has died may wait for what it cannot write.
func (l *life) round(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := l.loop.Round(bounded)
	return err
}

func (l *life) died() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// write says whether a write goes through, and whether its answer arrives.
func (l *life) write(verb string, o client.Object) (through, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return false, false
	}
	kind := "NodeClaim"
	switch {
	case strings.HasPrefix(o.GetName(), "node-"):
		kind = "Node"
	case strings.HasPrefix(o.GetName(), "app-"):
		kind = "Pod"
	}
	old := strings.HasPrefix(strings.TrimPrefix(o.GetName(), "node-"), "old-")
	if d := l.at; d == nil || d.verb != verb || d.kind != kind || d.old != old {
		return true, true
	}
	if l.seen++; l.seen < l.at.nth {
		return true, true
	}
	l.dead = true
	return l.at.after, false
}

func (l *life) do(verb string, o client.Object, call func() error) error {
	through, answered := l.write(verb, o)
	if through {
		if err := call(); err != nil {
			return err
		}
	}
	if !answered {
		return errDead
	}
	return nil
}

func (l *life) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return l.do("create", o, func() error { return c.Create(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return l.do("patch", o, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return l.do("delete", o, func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return l.do(sub, o, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return l.do(sub, o, func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, _ string, o client.Object, made client.Object, opts ...client.SubResourceCreateOption) error {
			return l.do("evict", o, func() error { return c.SubResource("eviction").Create(ctx, o, made, opts...) })
		},
	}
}

// sometimes has no policies, or those that were swapped in.
type sometimes struct {
	in atomic.Pointer[[]policy.Policy]
}

// Policies implements decision.Policies.
func (s *sometimes) Policies() []policy.Policy {
	if in := s.in.Load(); in != nil {
		return *in
	}
	return nil
}

// Contents implements decision.Policies.
func (*sometimes) Contents() []policy.Contents { return nil }

// Missing implements decision.Policies.
func (*sometimes) Missing() []string { return nil }

// Suspended implements decision.Policies.
func (*sometimes) Suspended() []policy.Suspension { return nil }

// skewed is ahead of ours by as much as the cloud's time: it goes on while nobody
// advances that.
type skewed struct {
	clock.RealClock

	cloud *sim.Clock
	born  time.Time
}

func (c skewed) Now() time.Time                  { return c.cloud.Now().Add(time.Since(c.born)) }
func (c skewed) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// ahead is our time and some more.
type ahead struct {
	clock.RealClock

	by *atomic.Int64
}

func (c ahead) Now() time.Time                  { return time.Now().Add(time.Duration(c.by.Load())) }
func (c ahead) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// live starts a controller that dies at a write, or never.
func (w *bareCluster) live(t *testing.T, at *death) *life {
	t.Helper()
	l := &life{at: at}
	mgr := w.server.Manager(t, func(o *ctrl.Options) {
		o.NewClient = func(cfg *rest.Config, opts client.Options) (client.Client, error) {
			c, err := client.NewWithWatch(cfg, opts)
			if err != nil {
				return nil, err
			}
			return interceptor.NewClient(c, l.funcs()), nil
		}
	})
	if err := w.wire(t.Context(), l, mgr); err != nil {
		t.Fatal(err)
	}
	l.cache = mgr.GetCache()
	l.stop = apiserver.Run(t, mgr)
	return l
}

// wire is the part of the controller that disrupts.
func (w *bareCluster) wire(ctx context.Context, l *life, mgr ctrl.Manager) error {
	tick, events := skewed{cloud: w.clock, born: time.Now()}, mgr.GetEventRecorder("test")
	view, err := cluster.New(ctx, cluster.Config{Name: "test", Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Clock: tick, Catalog: w.cloud.Catalog})
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	shared, err := metric.NewReconcilers(registry)
	if err != nil {
		return err
	}
	l.loop = decision.New(decision.Config{
		Cluster: view, Actuator: &actuate.Actuator{Client: mgr.GetClient(), Reporter: &actuate.Reporter{Client: mgr.GetClient(), Events: events, Unmerged: events}}, Policies: &l.swap,
		Journal: journal.New(50, 32<<20), Metrics: metric.NewDecisions(registry, shared), Clock: tick,
		CountSpend: func(context.Context, *model.Snapshot) error { return nil },
	})
	l.garbage = &garbage.Collector{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Provider: w.cloud, Clock: tick}
	l.claims = &lifecycle.Reconciler{Client: mgr.GetClient(), Provider: w.cloud, Events: events, Clock: ahead{by: &l.late}, Reservations: reservation.New(mgr.GetClient(), ahead{by: &l.late}), Workers: 2}
	nodes := &termination.Reconciler{Client: mgr.GetClient(), Provider: w.cloud, Events: events, Clock: clock.RealClock{}, Workers: 2}
	return errors.Join(index.Register(ctx, mgr.GetFieldIndexer()), l.claims.SetupWithManager(mgr), nodes.SetupWithManager(mgr))
}
