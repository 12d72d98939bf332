package agreement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/lifecycle"
	"spokeshave.dev/controller/kube/reconcile/reservation"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/embedded"
	"spokeshave.dev/test/kit/eventually"
)

// scheduledCluster is a cluster with a real scheduler and a KWOK in the place of kubelets.
type scheduledCluster struct {
	client  client.Client
	catalog model.Catalog
	filters *filters
	// clock is the cloud's.
	clock *sim.Clock
}

func start(t *testing.T) *scheduledCluster {
	t.Helper()
	cluster := apiserver.On(t, controlplane.ForTest(t, true))
	w := &scheduledCluster{catalog: embedded.Catalog(t), filters: startFilters(t), client: cluster.Client(t)}
	w.reconcile(t, cluster)
	for _, name := range []string{shop, bank} {
		w.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	// Pods that preempt others would start a second wave.
	w.create(t, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1000, PreemptionPolicy: new(corev1.PreemptNever)})
	return w
}

// reconcile runs the reconciler that takes claims to nodes, with a cloud in memory.
func (w *scheduledCluster) reconcile(t *testing.T, cluster *apiserver.Server) {
	t.Helper()
	w.clock = sim.NewClock(time.Now())
	cloud, err := sim.New(sim.Config{Catalogs: map[string]model.Catalog{"default": w.catalog}, Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	mgr := cluster.Manager(t)
	if err := index.Register(t.Context(), mgr.GetFieldIndexer()); err != nil {
		t.Fatal(err)
	}
	claims := &lifecycle.Reconciler{Client: mgr.GetClient(), Provider: cloud, Events: mgr.GetEventRecorder("test"), Clock: clock.RealClock{}, Reservations: reservation.New(mgr.GetClient(), clock.RealClock{}), Workers: 50}
	if err := claims.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	apiserver.Run(t, mgr)
}

func (w *scheduledCluster) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := w.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// outcome is what the scheduler made of a plan.
type outcome struct {
	// planned pods were to go to new nodes, asPlanned did; waiting found no
	// place at all.
	planned, asPlanned, waiting int
	// alike is how many of the planned places have a pod of the kind planned:
	// equal pods are not told apart.
	alike int
	// extra is how many more nodes they would need.
	extra int
	// causes count the pods that are not where they should be, and notes say more
	// of each.
	causes map[cause]int
	notes  []string
}

// run plays a scenario: pods wait, the plan's claims are launched, their nodes
// join, the reconciler registers them, and the scheduler binds.
func (w *scheduledCluster) run(t *testing.T, s *scenario) outcome {
	t.Helper()
	defer w.clear(t)
	w.join(t, s.nodes)
	for _, d := range s.daemons {
		w.create(t, d)
	}
	for _, p := range slices.Concat(s.resident, s.pending) {
		w.create(t, p)
	}
	eventually.True(t, "the scheduler to have tried every pod", func() bool { return len(w.untried(t)) == 0 })
	in := w.inputs(t)
	p := solve(t, s, in)
	rejected, _ := w.filters.ask(t, &question{Nodes: slices.Concat(in.Nodes, p.nodes), Pods: in.Pods, Namespaces: in.Namespaces, Planned: p.at})
	for _, r := range rejected {
		t.Errorf("seed %d: %s planned on %s: %s", s.seed, r.Pod, r.Node, r.Reason)
	}
	w.launch(t, p)
	w.join(t, p.nodes)
	return w.compare(t, s, p)
}

// launch has the reconciler launch the plan's claims.
func (w *scheduledCluster) launch(t *testing.T, p *plan) {
	t.Helper()
	for _, c := range p.claims {
		w.create(t, c)
	}
	eventually.True(t, "the claims to be launched", func() bool {
		ids := map[string]string{}
		for _, c := range list(t, w, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) []karpv1.NodeClaim { return l.Items }) {
			ids[c.Name] = c.Status.ProviderID
		}
		for _, n := range p.nodes {
			n.Spec.ProviderID = ids[n.Name]
		}
		return !slices.ContainsFunc(p.nodes, func(n *corev1.Node) bool { return n.Spec.ProviderID == "" })
	})
}

// join makes nodes, as kubelets would. From then on KWOK plays those, and the
// reconciler has what was launched.
func (w *scheduledCluster) join(t *testing.T, nodes []*corev1.Node) {
	t.Helper()
	for _, n := range nodes {
		status := n.Status
		n.Labels[controlplane.NodeLabel] = controlplane.NodeLabelValue
		if n.Spec.ProviderID != "" {
			n.Spec.Taints = append(slices.Clone(n.Spec.Taints), karpv1.UnregisteredTaint())
		}
		w.create(t, n)
		base := n.DeepCopy()
		n.Status.Capacity, n.Status.Allocatable = status.Allocatable, status.Allocatable
		if err := w.client.Status().Patch(t.Context(), n, client.MergeFrom(base)); err != nil {
			t.Fatal(err)
		}
	}
	eventually.True(t, "the nodes to be ready", func() bool {
		return !slices.ContainsFunc(w.nodes(t), func(n *corev1.Node) bool {
			return slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == corev1.TaintNodeNotReady })
		})
	})
}

// compare waits until the scheduler has nothing left to bind and counts.
func (w *scheduledCluster) compare(t *testing.T, s *scenario, p *plan) outcome {
	t.Helper()
	out := outcome{planned: len(p.fresh), causes: map[cause]int{}}
	before, since := -1, time.Now()
	eventually.True(t, "the scheduler to bind", func() bool {
		bound := 0
		for _, pod := range w.pods(t) {
			if p.fresh[pod.Namespace+"/"+pod.Name] && pod.Spec.NodeName != "" {
				bound++
			}
		}
		if bound != before {
			before, since = bound, time.Now()
		}
		// Reservations last 24 seconds at most, and it tries again ten seconds
		// later at the latest.
		return bound == out.planned || time.Since(since) > 36*time.Second
	})
	out.alike = p.alike(w.pods(t))
	for _, pod := range w.pods(t) {
		key := pod.Namespace + "/" + pod.Name
		switch want := p.at[key]; {
		case !p.fresh[key]:
		case pod.Spec.NodeName == want:
			out.asPlanned++
		default:
			why := p.cause(pod)
			out.causes[why]++
			out.notes = append(out.notes, fmt.Sprintf("%s planned on %s is on %q, %s: %s", key, want, pod.Spec.NodeName, why, refusal(pod)))
			if pod.Spec.NodeName == "" {
				out.waiting++
			}
		}
	}
	if lost := out.planned - out.asPlanned - len(out.notes); lost > 0 {
		out.causes[gone] += lost
	}
	if out.waiting > 0 {
		out.extra = len(solve(t, s, w.inputs(t)).nodes)
	}
	t.Logf("seed %d: %s; %d as planned, %d alike, %d wait", s.seed, p, out.asPlanned, out.alike, out.waiting)
	return out
}

// refusal is what the scheduler says about a pod that it could not place.
func refusal(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// untried lists the pods that the scheduler has not looked at.
func (w *scheduledCluster) untried(t *testing.T) []*corev1.Pod {
	t.Helper()
	return slices.DeleteFunc(w.pods(t), func(p *corev1.Pod) bool { return p.Spec.NodeName != "" || refusal(p) != "" })
}

// inputs is the cluster as a snapshot is made of it.
func (w *scheduledCluster) inputs(t *testing.T) lower.Inputs {
	t.Helper()
	return lower.Inputs{
		Live: true, Catalogs: map[string]model.Catalog{"default": w.catalog},
		Nodes: w.nodes(t), Pods: w.pods(t),
		DaemonSets:      list(t, w, &appsv1.DaemonSetList{}, func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }),
		Namespaces:      list(t, w, &corev1.NamespaceList{}, func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }),
		PriorityClasses: list(t, w, &schedulingv1.PriorityClassList{}, func(l *schedulingv1.PriorityClassList) []schedulingv1.PriorityClass { return l.Items }),
	}
}

func (w *scheduledCluster) nodes(t *testing.T) []*corev1.Node {
	t.Helper()
	return list(t, w, &corev1.NodeList{}, func(l *corev1.NodeList) []corev1.Node { return l.Items })
}

func (w *scheduledCluster) pods(t *testing.T) []*corev1.Pod {
	t.Helper()
	return list(t, w, &corev1.PodList{}, func(l *corev1.PodList) []corev1.Pod { return l.Items })
}

func list[L client.ObjectList, T any](t *testing.T, w *scheduledCluster, into L, items func(L) []T) []*T {
	t.Helper()
	if err := w.client.List(t.Context(), into); err != nil {
		t.Fatal(err)
	}
	all := items(into)
	out := make([]*T, len(all))
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

// clear removes everything that a scenario made.
func (w *scheduledCluster) clear(t *testing.T) {
	t.Helper()
	drop := func(o client.Object, opts ...client.DeleteAllOfOption) {
		if err := w.client.DeleteAllOf(t.Context(), o, opts...); err != nil {
			t.Error(err)
		}
	}
	drop(&appsv1.DaemonSet{}, client.InNamespace("kube-system"))
	drop(&karpv1.NodeClaim{})
	eventually.True(t, "the cluster to be empty", func() bool {
		w.clock.Advance(time.Minute) // instances take their time to end
		drop(&corev1.Node{})
		for _, n := range w.nodes(t) { // nothing drains here
			if err := w.client.Patch(t.Context(), n, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		}
		for _, namespace := range []string{shop, bank, "kube-system"} {
			drop(&corev1.Pod{}, client.InNamespace(namespace), client.GracePeriodSeconds(0))
		}
		claims := list(t, w, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) []karpv1.NodeClaim { return l.Items })
		return len(w.nodes(t))+len(w.pods(t))+len(claims) == 0
	})
}

// shuffled is the list in an order that the seed decides.
func shuffled[T any](seed uint64, in []T) []T {
	out := slices.Clone(in)
	rand.New(rand.NewPCG(seed, 13)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
