// Package ceilings tries to break the promise of hard caps. Clusters of real
// API objects, lowered, decided on and claimed by the controller's own code, are
// shaken: pods come in bursts, prices rise and fall, launches fail, get lost or
// come late, node classes and NodePools go, caps change, the controller
// restarts at any step. Whatever is launched is held against what the simulated
// EC2 bills, never against the controller's own figures.
//
// Not here: whether clusters come to rest (test/suite/simulation).
package ceilings

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/test/kit/instancetype"
)

// cappedCluster is a cluster in memory, the cloud under it, and the caps over it.
type cappedCluster struct {
	t        testing.TB
	rng      *rand.Rand
	clock    *sim.Clock
	cloud    *sim.Provider
	catalogs map[string]*model.Catalog // by node class
	broken   map[string]bool           // node classes that are not ready
	pools    []*karpv1.NodePool
	claims   []*karpv1.NodeClaim
	nodes    []*corev1.Node
	pods     []*corev1.Pod
	made     int

	// labels are those of every NodePool that has ever been.
	labels map[string]map[string]string
	caps   map[string]policy.Cap
	mute   bool                  // the ceiling policy gives no answer
	said   map[string]policy.Cap // what it answered last
	// last are the caps known from the decision before, ledger what has been
	// spent; a restart loses the one, and reads the other back as kept.
	last   map[string]map[string]policy.Cap
	short  bool // pods waited because of a cap
	ledger *spend.Ledger
	kept   []byte

	meter   meter
	tally   tally
	history []string
}

// tally says what a cluster went through, so that a test can tell that it tested
// something.
type tally struct {
	launched, replaced, refused, restarts int
	// static are launches for static pools, months those that turned, excused
	// scopes found above their caps through no launch, short decisions in which a
	// cap kept pods waiting, relieved the consolidations begun by them, rests the
	// spans of days in which nothing happened, counted the hard caps whose room as
	// the controller has it was compared with the bill, back the launches planned
	// beside a replacement that is taken back.
	static, months, excused, short, relieved, rests, counted, back int
}

func (t *tally) add(o tally) {
	t.launched += o.launched
	t.replaced += o.replaced
	t.refused += o.refused
	t.restarts += o.restarts
	t.static += o.static
	t.months += o.months
	t.excused += o.excused
	t.short += o.short
	t.relieved += o.relieved
	t.rests += o.rests
	t.counted += o.counted
	t.back += o.back
}

const (
	onDemandA = iota
	onDemandB
	spotA
)

func instanceType(name string, cpu, gib int64, price model.Price) model.InstanceType {
	return instancetype.New(name, cpu, gib, 30, []model.Offering{
		onDemandA: instancetype.OnDemand("a", price), onDemandB: instancetype.OnDemand("b", price+price/40), spotA: instancetype.Spot("a", price/3),
	}...)
}

func catalog(class string) *model.Catalog {
	c := instancetype.Catalog(
		instanceType("c.1", 2000, 4, 80_000), instanceType("c.2", 4000, 8, 158_000), instanceType("c.4", 8000, 16, 315_000),
		instanceType("m.1", 2000, 8, 96_000), instanceType("m.2", 4000, 16, 190_000),
	)
	c.NodeClass = class
	return &c
}

func newCluster(t testing.TB, seed uint64) *cappedCluster {
	t.Helper()
	w := &cappedCluster{
		t: t, rng: rand.New(rand.NewPCG(seed, 11)), clock: sim.NewClock(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)),
		catalogs: map[string]*model.Catalog{"default": catalog("default"), "other": catalog("other")},
		broken:   map[string]bool{}, labels: map[string]map[string]string{}, caps: map[string]policy.Cap{}, meter: newMeter(),
	}
	if w.chance(4) { // a month ends soon
		w.clock.Advance(21*24*time.Hour + 23*time.Hour + 50*time.Minute + time.Duration(w.rng.IntN(300))*time.Second)
	}
	var err error
	w.cloud, err = sim.New(sim.Config{Clock: w.clock, Catalogs: map[string]model.Catalog{"default": *w.catalogs["default"], "other": *w.catalogs["other"]}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1 + w.rng.IntN(3) {
		w.newPool(fmt.Sprint("pool-", i))
	}
	for range 1 + w.rng.IntN(3) {
		w.cap()
	}
	return w
}

func (w *cappedCluster) log(format string, args ...any) {
	w.history = append(w.history, w.clock.Now().Format("15:04:05 ")+fmt.Sprintf(format, args...))
}

func (w *cappedCluster) fail(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.history[max(0, len(w.history)-60):] {
		w.t.Log(line)
	}
	w.t.Fatalf(format, args...)
}

func pick[T any](w *cappedCluster, from ...T) T { return from[w.rng.IntN(len(from))] }

// chance is true once in n times.
func (w *cappedCluster) chance(n int) bool { return w.rng.IntN(n) == 0 }

func (w *cappedCluster) newPool(name string) {
	w.made++
	np := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(fmt.Sprint("pool-", w.made)), Labels: map[string]string{"team": pick(w, "web", "ml")},
	}}
	np.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: pick(w, "default", "default", "other")}
	np.Spec.Template.Spec.Requirements = []karpv1.Requirement{{
		Key: karpv1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: pick(w, []string{"on-demand"}, []string{"spot", "on-demand"}),
	}}
	if w.chance(5) {
		np.Spec.Replicas = new(int64(1 + w.rng.IntN(3)))
	}
	if w.chance(3) {
		np.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "100%"}}
	}
	w.pools = append(w.pools, np)
	w.labels[name] = np.Labels
}

// cap sets, changes or lifts a cap.
func (w *cappedCluster) cap() {
	scope := pick(w, "cluster", "cluster", "nodepool/pool-0", "nodepool/pool-1", "label/team=web", "namespace/shop", "namespace/batch")
	if w.chance(6) {
		delete(w.caps, scope)
		w.log("no cap on %s", scope)
		return
	}
	c := policy.Cap{Soft: w.chance(8)}
	if w.chance(3) { // as much as leaves so much an hour
		now := w.clock.Now()
		usd := w.meter.month[scope] + (0.05+1.5*w.rng.Float64())*monthEnd(now).Sub(now).Hours()
		c.MonthlyUSD = &usd
		w.log("cap %s %.2f $/month, soft %v", scope, usd, c.Soft)
	} else {
		usd := 0.05 + 1.5*w.rng.Float64()
		c.HourlyUSD = &usd
		w.log("cap %s %.4f $/h, soft %v", scope, usd, c.Soft)
	}
	w.caps[scope] = c
}

// newPods come as a Deployment's would: all alike, all at once.
func (w *cappedCluster) newPods(n int) {
	namespace, priority := pick(w, "shop", "shop", "batch"), pick(w, int32(0), 0, 100)
	cpu, gib := int64(200*(1+w.rng.IntN(12))), int64(1+w.rng.IntN(6))
	var annotations map[string]string
	if w.chance(4) { // they answer for the rest of their nodes
		annotations = map[string]string{karpv1.AnnotationDoNotDisrupt: "true"}
	}
	for range n {
		w.made++
		name := fmt.Sprintf("app-%05d", w.made)
		w.pods = append(w.pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(w.clock.Now()), Annotations: annotations,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app", UID: "app", Controller: new(true)}},
			},
			Spec: corev1.PodSpec{Priority: &priority, Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
				corev1.ResourceMemory: *resource.NewQuantity(gib<<30, resource.BinarySI),
			}}}}},
			Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			}}},
		})
	}
}

// snapshot is what the controller makes of the cluster.
func (w *cappedCluster) snapshot() *model.Snapshot {
	now := w.clock.Now()
	catalogs := map[string]model.Catalog{}
	for name := range w.catalogs {
		if !w.broken[name] {
			c, err := w.cloud.Catalog(w.t.Context(), name)
			if err != nil {
				w.fail("catalogue: %v", err)
			}
			catalogs[name] = c
		}
	}
	s, _ := lower.Build(lower.Inputs{
		Time: now, Seed: uint64(now.UnixNano()), Live: true,
		NodePools: slices.Clone(w.pools), NodeClaims: slices.Clone(w.claims), Nodes: slices.Clone(w.nodes), Pods: slices.Clone(w.pods),
		Catalogs:   catalogs,
		Settings:   model.Settings{StaticCapacity: true},
		ClassReady: func(name string) (bool, string) { return !w.broken[name], "is not ready" },
	})
	written := w.count(&s)
	w.look()
	if written {
		w.keep()
	}
	w.excuse() // of the month more is known to be spent
	return &s
}

// count keeps the ledger as the controller does, and says whether it was written.
func (w *cappedCluster) count(s *model.Snapshot) (written bool) {
	var next spend.Ledger
	switch {
	case w.ledger != nil:
		next = w.ledger.Advance(s)
	case w.kept != nil:
		kept, err := spend.Decode(w.kept)
		if err != nil {
			w.fail("read ledger: %v", err)
		}
		next = kept.Advance(s)
	default:
		next = spend.New(s)
	}
	w.ledger = &next
	s.Spent = next.Scopes()
	if w.kept == nil || w.chance(4) {
		text, err := next.Encode()
		if err != nil {
			w.fail("keep ledger: %v", err)
		}
		w.kept = text
		return true
	}
	return false
}

// The cluster is its own ceiling policy.

// Info implements policy.Policy.
func (w *cappedCluster) Info() policy.Info {
	return policy.Info{Name: "budget", Namespace: "system", Hooks: []policy.Hook{policy.HookCeiling}}
}

// Rank implements policy.Policy.
func (w *cappedCluster) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, policy.ErrNoOpinion
}

// Consolidate implements policy.Policy.
func (w *cappedCluster) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, policy.ErrNoOpinion
}

// Ceiling implements policy.Policy.
func (w *cappedCluster) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	if w.mute {
		return policy.CeilingAnswer{}, &policy.Fault{Kind: policy.FaultTrap, Message: "mute"}
	}
	w.said = maps.Clone(w.caps)
	return policy.CeilingAnswer{Caps: w.said}, nil
}

// options are the ways in which a claim may be launched.
func options(claim *karpv1.NodeClaim) []model.Option {
	var out []model.Option
	if json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationLaunch]), &out) != nil {
		return nil
	}
	return out
}

func planned(claim *karpv1.NodeClaim) []string {
	var out []string
	if json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationPlannedPods]), &out) != nil {
		return nil
	}
	return out
}
