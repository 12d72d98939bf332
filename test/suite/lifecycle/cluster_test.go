// Package lifecycle tests the reconcilers that carry a NodeClaim from launch
// to termination, on a real API server and a cloud in memory whose answers get
// lost on order.
package lifecycle

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/garbage"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
	"spokeshave.dev/controller/kube/reconcile/reservation"
	"spokeshave.dev/controller/kube/reconcile/termination"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
	"spokeshave.dev/test/kit/instancetype"
)

// launchingCluster is an API server and the reconcilers that carry claims, on a cloud in
// memory whose answers get lost on order.
type launchingCluster struct {
	client    client.Client
	cloud     *sim.Provider
	clock     *sim.Clock
	collector *garbage.Collector
	events    events.EventRecorder
	asked     *requests
	faults    *faults
	metrics   *prometheus.Registry
	// ahead is how far the reconcilers' clock is ahead of the real one, in nanoseconds.
	ahead    *atomic.Int64
	outcomes *poolhealth.Outcomes
}

// aheadClock is the real clock, so much later.
type aheadClock struct {
	clock.RealClock
	by *atomic.Int64
}

func (c aheadClock) Now() time.Time                  { return c.RealClock.Now().Add(time.Duration(c.by.Load())) }
func (c aheadClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// requests counts what is asked of the API server, watches included, by method
// and path.
type requests struct {
	http.RoundTripper
	mu sync.Mutex
	by map[string]int
}

func (r *requests) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.by[req.Method+" "+req.URL.Path]++
	r.mu.Unlock()
	return r.RoundTripper.RoundTrip(req)
}

// count counts the requests whose method and path end like this.
func (r *requests) count(end string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for what, times := range r.by {
		if strings.HasSuffix(what, end) {
			n += times
		}
	}
	return n
}

// cloudClock tells the cloud's time.
type cloudClock struct {
	clock.RealClock
	cloud *sim.Clock
}

func (c cloudClock) Now() time.Time                  { return c.cloud.Now() }
func (c cloudClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func option(instanceType string) model.Option {
	return model.Option{InstanceType: instanceType, Zone: "zone-a", CapacityType: model.OnDemand, Price: 100_000, Effective: 0.1}
}

func catalog() model.Catalog {
	c := instancetype.Catalog()
	c.NodeCost = 30_000
	for _, name := range []string{"m5.large", "c5.large"} {
		t := instancetype.New(name, 2000, 8, 29, instancetype.OnDemand("zone-a", 100_000))
		t.Labels["example.com/from-type"] = "yes"
		c.Types = append(c.Types, t)
	}
	adapters := instancetype.New("c5n.18xlarge", 72_000, 192, 737, instancetype.OnDemand("zone-a", 100_000))
	adapters.Capacity[provider.ResourceEFA], adapters.Allocatable[provider.ResourceEFA] = 1, 1
	c.Types = append(c.Types, adapters)
	return c
}

// start runs the reconcilers against a fresh cloud.
func start(t *testing.T) *launchingCluster {
	t.Helper()
	server := apiserver.Start(t)
	w := &launchingCluster{clock: sim.NewClock(time.Now()), ahead: &atomic.Int64{}, outcomes: &poolhealth.Outcomes{}, asked: &requests{by: map[string]int{}}}
	var err error
	if w.cloud, err = sim.New(sim.Config{Catalogs: map[string]model.Catalog{"default": catalog()}, Clock: w.clock}); err != nil {
		t.Fatal(err)
	}
	server.Config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		w.asked.RoundTripper = next
		return w.asked
	})
	server.Config.Wrap(termination.WithoutRetryAfter)
	mgr := server.Manager(t)
	if err := index.Register(t.Context(), mgr.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	w.events = mgr.GetEventRecorder("test")
	w.faults, w.metrics = &faults{Client: mgr.GetClient(), deaf: make(chan struct{}), early: make(chan struct{})}, prometheus.NewRegistry()
	counted, err := metric.NewReconcilers(w.metrics)
	if err != nil {
		t.Fatal(err)
	}
	reservations := reservation.New(w.faults, clock.RealClock{})
	claims := &lifecycle.Reconciler{
		Client: w.faults, Provider: w.cloud, Events: w.events, Clock: aheadClock{by: w.ahead}, Outcomes: w.outcomes,
		Reservations: reservations, Workers: 50, Metrics: counted,
	}
	nodes := &termination.Reconciler{Client: mgr.GetClient(), Provider: w.cloud, Events: w.events, Clock: clock.RealClock{}, Workers: 50}
	if err := claims.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	if err := nodes.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	if err := (&reservation.Arrivals{Reservations: reservations}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	w.client = mgr.GetClient()
	w.collector = &garbage.Collector{Client: w.client, Live: mgr.GetAPIReader(), Provider: w.cloud, Clock: cloudClock{cloud: w.clock}}
	apiserver.Run(t, mgr)
	return w
}

// claim creates a NodeClaim as a decision would.
func (w *launchingCluster) claim(t *testing.T, name string, options ...model.Option) {
	t.Helper()
	w.create(t, w.claimFor(t, name, options...))
}

func (w *launchingCluster) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := w.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// claimFor is a NodeClaim as a decision would make it.
func (w *launchingCluster) claimFor(t *testing.T, name string, options ...model.Option) *karpv1.NodeClaim {
	t.Helper()
	launch, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	return &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{karpv1.LabelNodePool: "general"},
			Annotations: map[string]string{karpv1.AnnotationLaunch: string(launch), karpv1.AnnotationReservedUSD: "0.1"},
		},
		Spec: karpv1.NodeClaimSpec{
			Requirements:  []karpv1.Requirement{{Key: "example.com/fixed", Operator: corev1.NodeSelectorOpIn, Values: []string{"one"}}},
			Taints:        []corev1.Taint{{Key: "example.com/pool", Effect: corev1.TaintEffectNoSchedule}},
			StartupTaints: []corev1.Taint{{Key: startupTaint, Effect: corev1.TaintEffectNoExecute}},
			NodeClassRef:  karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
}

// join plays the instance of a claim: its node appears.
func (w *launchingCluster) join(t *testing.T, name, providerID string) {
	t.Helper()
	w.joinWith(t, name, providerID, karpv1.UnregisteredTaint(), corev1.Taint{Key: startupTaint, Effect: corev1.TaintEffectNoExecute})
}

// joinWith is join of a node that has only these taints.
func (w *launchingCluster) joinWith(t *testing.T, name, providerID string, taints ...corev1.Taint) {
	t.Helper()
	w.appear(t, name, providerID, taints...)
	w.ready(t, name)
}

// joinUnready is join of a node that is not ready yet.
func (w *launchingCluster) joinUnready(t *testing.T, name, providerID string) {
	t.Helper()
	w.appear(t, name, providerID, karpv1.UnregisteredTaint(), corev1.Taint{Key: startupTaint, Effect: corev1.TaintEffectNoExecute})
}

// startupTaint is on all nodes until a test lifts it.
const startupTaint = "example.com/starting"

// appear makes a node that is not ready, and waits until the cache shows it.
func (w *launchingCluster) appear(t *testing.T, name, providerID string, taints ...corev1.Taint) {
	t.Helper()
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("29")}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{ProviderID: providerID, Taints: taints},
	}
	if err := w.client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	base := node.DeepCopy()
	node.Status.Capacity, node.Status.Allocatable = amounts, amounts
	// A patch: the reconciler may have written the node already.
	if err := w.client.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the cache to show "+name, func() bool { return w.getNode(t, name) != nil })
}

// ready makes a node ready.
func (w *launchingCluster) ready(t *testing.T, name string) {
	t.Helper()
	node := w.getNode(t, name).DeepCopy()
	base := node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := w.client.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	// Admission adds a taint that the node controller, which does not run here,
	// would take off.
	w.eventually(t, "the taint of "+name+" to go", func() bool {
		n := w.getNode(t, name)
		if n == nil {
			return false
		}
		base, n := n.DeepCopy(), n.DeepCopy()
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady })
		return w.client.Patch(t.Context(), n, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) == nil
	})
}

func (w *launchingCluster) getClaim(t *testing.T, name string) *karpv1.NodeClaim {
	t.Helper()
	c := &karpv1.NodeClaim{}
	if err := w.client.Get(t.Context(), types.NamespacedName{Name: name}, c); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		t.Fatal(err)
	}
	return c
}

func (w *launchingCluster) getNode(t *testing.T, name string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{}
	if err := w.client.Get(t.Context(), types.NamespacedName{Name: name}, n); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		t.Fatal(err)
	}
	return n
}

func (w *launchingCluster) getPod(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := w.client.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: name}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// eventually waits for a condition, moving the cloud's clock along.
func (w *launchingCluster) eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	eventually.True(t, what, func() bool {
		if ok() {
			return true
		}
		w.clock.Advance(time.Second)
		return false
	})
}

// living counts the machines of a claim that cost money.
func (w *launchingCluster) living(claim string) int {
	n := 0
	for _, m := range w.cloud.Machines() {
		if m.Claim == claim && (m.State == "pending" || m.State == "running") {
			n++
		}
	}
	return n
}

// told waits for an event about the object of that name.
func (w *launchingCluster) told(t *testing.T, name, reason string, parts ...string) {
	t.Helper()
	w.eventually(t, "event "+reason+" on "+name, func() bool { return w.count(t, name, reason, parts...) > 0 })
}

// count counts the events about the object of that name.
func (w *launchingCluster) count(t *testing.T, name, reason string, parts ...string) int {
	t.Helper()
	var list eventsv1.EventList
	if err := w.client.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range list.Items {
		e := &list.Items[i]
		lacks := func(part string) bool { return !strings.Contains(e.Note, part) }
		if e.Regarding.Name == name && e.Reason == reason && !slices.ContainsFunc(parts, lacks) {
			n++
		}
	}
	return n
}
