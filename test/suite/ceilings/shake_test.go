package ceilings

import (
	"errors"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
)

// shake does something that may upset the caps.
func (w *cappedCluster) shake() {
	defer w.excuse()
	switch w.rng.IntN(15) {
	case 0, 1, 2, 3:
		w.newPods(1 + w.rng.IntN(8))
	case 4:
		for range w.rng.IntN(1 + len(w.pods)/2) {
			i := w.rng.IntN(len(w.pods))
			w.pods = slices.Delete(w.pods, i, i+1)
		}
	case 5, 6:
		w.reprice()
	case 7:
		o := w.offering()
		if w.chance(2) {
			w.cloud.SellOut(o)
		} else {
			w.cloud.Restock(o)
		}
	case 8:
		switch w.rng.IntN(3) {
		case 0:
			w.cloud.Lose(sim.CallLaunch)
		case 1:
			w.cloud.Fail(sim.CallLaunch, &provider.Error{Kind: provider.Throttled, Err: errors.New("ordered")})
		case 2:
			w.cloud.Fail(sim.CallTerminate, &provider.Error{Kind: provider.Throttled, Err: errors.New("ordered")})
		}
	case 9:
		w.cap()
	case 10:
		class := pick(w, "default", "other")
		w.broken[class] = !w.broken[class]
		w.log("node class %s broken: %v", class, w.broken[class])
	case 11:
		w.losePool()
	case 12:
		if len(w.claims) > 0 {
			w.upset(pick(w, w.claims...))
		}
	case 13:
		w.restart()
	case 14:
		w.rescale()
	}
}

// rescale changes how many nodes a static pool is to have. Those that are too
// many go, as the controller's reconciler has it: the newest first.
func (w *cappedCluster) rescale() {
	for _, p := range w.pools {
		if p.Spec.Replicas == nil {
			continue
		}
		p.Spec.Replicas = new(int64(w.rng.IntN(5)))
		w.log("NodePool %s is to have %d nodes", p.Name, *p.Spec.Replicas)
		left := *p.Spec.Replicas
		for _, c := range w.claims {
			if c.Labels[karpv1.LabelNodePool] != p.Name || !c.DeletionTimestamp.IsZero() {
				continue
			}
			if left--; left < 0 {
				w.delete(c, "its static NodePool has too many")
			}
		}
	}
}

func (w *cappedCluster) offering() model.Option {
	t := pick(w, w.catalogs["default"].Types...)
	o := pick(w, t.Offerings...)
	return model.Option{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType}
}

// reprice changes the price of some of what is sold.
func (w *cappedCluster) reprice() {
	factor := 0.5 + 1.5*w.rng.Float64()
	kind := w.rng.IntN(3)
	only := pick(w, "", "", w.offering().InstanceType)
	w.log("prices of offering %d of %q times %.3f", kind, only, factor)
	for class, c := range w.catalogs {
		next := *c
		next.Generation++
		next.Types = slices.Clone(c.Types)
		for i := range next.Types {
			if only != "" && next.Types[i].Name != only {
				continue
			}
			next.Types[i].Offerings = slices.Clone(next.Types[i].Offerings)
			o := &next.Types[i].Offerings[kind]
			o.Price = max(1000, min(2_000_000, model.Price(float64(o.Price)*factor)))
		}
		w.catalogs[class] = &next
		w.cloud.Reprice(class, next)
	}
}

// losePool deletes a NodePool, whose claims follow, or makes a new one.
func (w *cappedCluster) losePool() {
	if len(w.pools) < 2 || w.chance(2) {
		name := "pool-" + strconv.Itoa(w.rng.IntN(4))
		if !slices.ContainsFunc(w.pools, func(p *karpv1.NodePool) bool { return p.Name == name }) && len(w.pools) < 3 &&
			!slices.ContainsFunc(w.claims, func(c *karpv1.NodeClaim) bool { return c.Labels[karpv1.LabelNodePool] == name }) {
			w.newPool(name)
		}
		return
	}
	i := w.rng.IntN(len(w.pools))
	name := w.pools[i].Name
	w.log("NodePool %s is deleted", name)
	w.pools = slices.Delete(w.pools, i, i+1)
	for _, c := range w.claims {
		if c.Labels[karpv1.LabelNodePool] == name {
			w.delete(c, "its NodePool is gone")
		}
	}
}

// upset ends, interrupts or outdates a claim.
func (w *cappedCluster) upset(claim *karpv1.NodeClaim) {
	switch w.rng.IntN(4) {
	case 0:
		w.delete(claim, "by hand")
	case 1:
		if claim.Status.ProviderID != "" && claim.DeletionTimestamp.IsZero() && w.cloud.Interrupt(claim.Status.ProviderID) == nil {
			w.set(claim, karpv1.ConditionDisruptionReason)
			meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDisruptionReason).Reason = karpv1.NoticeSpot
			claim.Annotations[karpv1.AnnotationInterrupted] = w.clock.Now().Add(110 * time.Second).Format(time.RFC3339)
			w.delete(claim, "interrupted")
		}
	default:
		if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
			w.log("%s has drifted", claim.Name)
			w.set(claim, karpv1.ConditionDrifted)
		}
	}
}

// restart forgets all that is not in the cluster.
func (w *cappedCluster) restart() {
	w.log("restart")
	w.last, w.ledger = nil, nil
	w.meter.crash()
	w.tally.restarts++
}

// taint sets or lifts the only taint that nodes here bear.
func (w *cappedCluster) taint(node string, taint *corev1.Taint) {
	for _, n := range w.nodes {
		if n.Name == node {
			n.Spec.Taints = nil
			if taint != nil {
				n.Spec.Taints = []corev1.Taint{*taint}
			}
		}
	}
}
