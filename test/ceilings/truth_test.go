package ceilings

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/provider/sim"
	"spokeshave.dev/controller/reconcile/condition"
)

func listOf(amounts model.Resources) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, n := range amounts {
		out[corev1.ResourceName(name)] = *resourceOf(name, n)
	}
	return out
}

func resourceOf(name string, n int64) *resource.Quantity {
	if name == model.CPU {
		return resource.NewMilliQuantity(n, resource.DecimalSI)
	}
	return resource.NewQuantity(n, resource.DecimalSI)
}

// typeOf is what EC2 started for a claim.
func (w *world) typeOf(claim *karpv1.NodeClaim) *model.InstanceType {
	if m := w.meter.machines[claim.Name]; m != nil {
		return w.sold(m.InstanceType)
	}
	return &model.InstanceType{}
}

func (w *world) sold(name string) *model.InstanceType {
	types := w.catalogs["default"].Types
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// price is what an option costs now.
func (w *world) price(o *model.Option) model.Price {
	for _, x := range w.sold(o.InstanceType).Offerings {
		if x.Zone == o.Zone && x.CapacityType == o.CapacityType {
			return x.Price
		}
	}
	return 0
}

// within says whether a NodePool's machines count to a scope.
func (w *world) within(scope, pool string) bool {
	if label, ok := strings.CutPrefix(scope, "label/team="); ok {
		return w.labels[pool]["team"] == label
	}
	return scope == "cluster" || scope == "nodepool/"+pool
}

// running is what EC2 bills an hour in a scope.
func (w *world) running(scope string, bill []sim.Billed) model.Price {
	sum := model.Price(0)
	for i := range bill {
		if w.within(scope, bill[i].NodePool) {
			sum += bill[i].Price
		}
	}
	return sum
}

// committed is what EC2 bills, and what it may bill for the claims that have no
// machine yet, each at the worst of its options at the prices of now. What is
// paid twice while a node is replaced counts once.
func (w *world) committed(scope string) model.Price {
	bill := w.cloud.Bill()
	if namespace, ok := strings.CutPrefix(scope, "namespace/"); ok {
		return w.attributed(namespace, bill) + w.awaited(namespace)
	}
	sum := w.running(scope, bill)
	for _, c := range w.claims {
		if w.meter.machines[c.Name] != nil || !c.DeletionTimestamp.IsZero() || !w.within(scope, c.Labels[karpv1.LabelNodePool]) {
			continue
		}
		sum += w.worst(options(c))
	}
	return sum - w.surge(scope, nil)
}

func (w *world) worst(options []model.Option) model.Price {
	worst := model.Price(0)
	for i := range options {
		worst = max(worst, w.price(&options[i]))
	}
	return worst
}

// attributed is a namespace's share of the machines: of each, by the larger of
// the CPU and the memory that its pods ask for.
func (w *world) attributed(namespace string, bill []sim.Billed) model.Price {
	sum := 0.0
	for i := range bill {
		c := w.find(bill[i].Claim)
		if c == nil || !c.DeletionTimestamp.IsZero() {
			continue
		}
		at := model.Option{InstanceType: bill[i].InstanceType, Zone: bill[i].Zone, CapacityType: bill[i].CapacityType}
		if condition.IsTrue(c.Status.Conditions, karpv1.ConditionInitialized) {
			sum += w.share(namespace, w.keysOn(c.Status.NodeName), &at)
		} else {
			sum += w.share(namespace, w.expected(c), &at)
		}
	}
	return model.Price(sum)
}

// awaited is its share of the claims that have no machine yet, of each by the
// worst of its options.
func (w *world) awaited(namespace string) model.Price {
	sum := 0.0
	for _, c := range w.claims {
		if w.meter.machines[c.Name] != nil || !c.DeletionTimestamp.IsZero() {
			continue
		}
		worst := 0.0
		for _, o := range options(c) {
			worst = max(worst, w.share(namespace, w.expected(c), &o))
		}
		sum += worst
	}
	return model.Price(sum)
}

// expected are the planned pods of a claim that have no other place: those of a
// node that it replaces are paid for there until they have moved.
func (w *world) expected(claim *karpv1.NodeClaim) []string {
	return slices.DeleteFunc(planned(claim), func(key string) bool {
		return slices.ContainsFunc(w.pods, func(p *corev1.Pod) bool { return p.Namespace+"/"+p.Name == key && p.Spec.NodeName != "" })
	})
}

func (w *world) keysOn(node string) []string {
	var out []string
	for _, p := range w.pods {
		if p.Spec.NodeName == node {
			out = append(out, p.Namespace+"/"+p.Name)
		}
	}
	return out
}

// share is the namespace's part of what an option costs, in micro-dollars.
func (w *world) share(namespace string, keys []string, o *model.Option) float64 {
	size := w.sold(o.InstanceType).Allocatable
	own, all := 0.0, 0.0
	for _, p := range w.pods {
		for _, key := range keys {
			if p.Namespace+"/"+p.Name != key {
				continue
			}
			cpu, memory := requests(p)
			part := math.Max(float64(cpu)/float64(size[model.CPU]), float64(memory)/float64(size[model.Memory]))
			all += part
			if p.Namespace == namespace {
				own += part
			}
		}
	}
	return own / math.Max(1, all) * float64(w.price(o))
}

// limits are the hard caps in force, in micro-dollars an hour: what a scope may
// have committed now.
func (w *world) limits() map[string]model.Price {
	out := map[string]model.Price{}
	caps := w.caps
	if w.mute {
		caps = w.said
	}
	now := w.clock.Now()
	hours := monthEnd(now).Sub(now).Hours()
	for scope, c := range caps {
		switch {
		case c.Soft:
		case c.HourlyUSD != nil:
			out[scope] = model.PriceOf(*c.HourlyUSD)
		default:
			out[scope] = model.PriceOf(max(0, *c.MonthlyUSD-w.meter.month[scope]+w.meter.unseen(scope)) / hours)
		}
	}
	return out
}

// surgeFor is how long a node and its replacement may both run before both count.
const surgeFor = 30 * time.Minute

// surge is what a scope pays twice for a while: of every replacement under way
// the cheaper side. The marks of the claims that are undone do not count.
func (w *world) surge(scope string, undone map[string]bool) model.Price {
	cost := map[string]model.Price{}
	for _, m := range w.cloud.Bill() {
		cost[m.Claim] = m.Price
	}
	side := func(names []string) model.Price {
		sum := model.Price(0)
		for _, name := range names {
			c := w.find(name)
			if c == nil || !w.within(scope, c.Labels[karpv1.LabelNodePool]) {
				continue
			}
			price, billed := cost[name]
			if !billed && c.DeletionTimestamp.IsZero() {
				price = w.worst(options(c))
			}
			sum += price
		}
		return sum
	}
	marks := map[string]model.Command{}
	for _, c := range w.claims {
		var mark model.Command
		if text := c.Annotations[karpv1.AnnotationDisruption]; text != "" && !undone[c.Name] && json.Unmarshal([]byte(text), &mark) == nil {
			marks[mark.ID] = mark
		}
	}
	sum := model.Price(0)
	for _, mark := range marks {
		if w.clock.Now().Sub(mark.Started) < surgeFor {
			sum += min(side(mark.Nodes), side(mark.Replacements))
		}
	}
	return sum
}
