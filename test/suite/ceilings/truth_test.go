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
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
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
func (w *cappedCluster) typeOf(claim *karpv1.NodeClaim) *model.InstanceType {
	if m := w.meter.machines[claim.Name]; m != nil {
		return w.sold(m.InstanceType)
	}
	return &model.InstanceType{}
}

func (w *cappedCluster) sold(name string) *model.InstanceType {
	types := w.catalogs["default"].Types
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// price is what an option costs now.
func (w *cappedCluster) price(o *model.Option) model.Price {
	for _, x := range w.sold(o.InstanceType).Offerings {
		if x.Zone == o.Zone && x.CapacityType == o.CapacityType {
			return x.Price
		}
	}
	return 0
}

// within says whether a NodePool's machines count to a scope.
func (w *cappedCluster) within(scope, pool string) bool {
	if label, ok := strings.CutPrefix(scope, "label/team="); ok {
		return w.labels[pool]["team"] == label
	}
	return scope == "cluster" || scope == "nodepool/"+pool
}

// running is what EC2 bills an hour in a scope.
func (w *cappedCluster) running(scope string, bill []sim.Billed) model.Price {
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
func (w *cappedCluster) committed(scope string) model.Price {
	bill := w.cloud.Bill()
	if namespace, ok := strings.CutPrefix(scope, "namespace/"); ok {
		return w.shared(namespace, bill)
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

func (w *cappedCluster) worst(options []model.Option) model.Price {
	worst := model.Price(0)
	for i := range options {
		worst = max(worst, w.price(&options[i]))
	}
	return worst
}

// attributed is a namespace's share of the machines that run: of each, by the
// larger of the CPU and the memory that the pods on it ask for, or as long as it
// takes none, those that wait for it.
func (w *cappedCluster) attributed(namespace string, bill []sim.Billed) model.Price {
	sum := 0.0
	for i := range bill {
		if c := w.find(bill[i].Claim); c != nil {
			sum += w.share(namespace, w.keysOn(c.Status.NodeName), &bill[i])
			if w.boots(c) {
				waiting, _ := w.coming(c)
				sum += w.share(namespace, waiting, &bill[i])
			}
		}
	}
	return model.Price(sum)
}

// shared is what a namespace has committed: its share of the machines that run by
// the pods that are on them, and what those that are to come hold at worst more
// than where they are.
func (w *cappedCluster) shared(namespace string, bill []sim.Billed) model.Price {
	sum := 0.0
	for i := range bill {
		if c := w.find(bill[i].Claim); c != nil {
			sum += w.share(namespace, w.keysOn(c.Status.NodeName), &bill[i])
		}
	}
	for _, c := range w.claims {
		if w.boots(c) {
			waiting, moving := w.coming(c)
			sum += w.more(namespace, slices.Concat(waiting, moving), c, bill)
		}
	}
	return model.Price(sum)
}

// more is the namespace's share of a claim that certain pods are to come to, at
// worst, beyond what they hold of the machines that they are on.
func (w *cappedCluster) more(namespace string, keys []string, c *karpv1.NodeClaim, bill []sim.Billed) float64 {
	worst := 0.0
	if len(keys) == 0 {
		return 0
	}
	if m := w.meter.machines[c.Name]; m != nil {
		if at := slices.IndexFunc(bill, func(b sim.Billed) bool { return b.Claim == c.Name }); at >= 0 {
			held := w.share(namespace, w.keysOn(c.Status.NodeName), &bill[at])
			worst = math.Min(w.share(namespace, keys, &bill[at]), float64(bill[at].Price)-held) // no machine is held twice
		}
	} else {
		for _, o := range options(c) {
			worst = max(worst, w.part(namespace, keys, &o))
		}
	}
	return max(0, worst-w.left(namespace, keys, bill))
}

// left is what pods hold of the machines that they are on.
func (w *cappedCluster) left(namespace string, keys []string, bill []sim.Billed) float64 {
	sum := 0.0
	for i := range bill {
		b := &bill[i]
		c := w.find(b.Claim)
		if c == nil || c.Status.NodeName == "" {
			continue
		}
		here := w.keysOn(c.Status.NodeName)
		mine := 0.0
		each := w.weights(here, b.InstanceType)
		for key, part := range each {
			if slices.Contains(keys, key) && strings.HasPrefix(key, namespace+"/") {
				mine += part
			}
		}
		sum += mine / math.Max(1, total(each)) * float64(b.Price)
	}
	return sum
}

// boots says whether a claim is on its way: its planned pods have not had their
// chance to get there.
func (w *cappedCluster) boots(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp.IsZero() && !condition.IsTrue(c.Status.Conditions, karpv1.ConditionInitialized)
}

// coming are the planned pods of a claim that wait, and those that are on nodes
// which go, or which it replaces. Others have found room elsewhere.
func (w *cappedCluster) coming(claim *karpv1.NodeClaim) (waiting, moving []string) {
	keys := planned(claim)
	for _, p := range w.pods {
		key := p.Namespace + "/" + p.Name
		switch {
		case !slices.Contains(keys, key):
		case p.Spec.NodeName == "":
			waiting = append(waiting, key)
		case w.leaves(p.Spec.NodeName, claim.Name):
			moving = append(moving, key)
		}
	}
	return waiting, moving
}

// leaves says whether a node is on its way out, or to be replaced by the claim.
func (w *cappedCluster) leaves(node, claim string) bool {
	for _, c := range w.claims {
		if c.Status.NodeName != node {
			continue
		}
		var mark model.Command
		text := c.Annotations[karpv1.AnnotationDisruption]
		marked := text != "" && json.Unmarshal([]byte(text), &mark) == nil && slices.Contains(mark.Replacements, claim)
		return marked || !c.DeletionTimestamp.IsZero()
	}
	return false
}

func (w *cappedCluster) keysOn(node string) []string {
	var out []string
	for _, p := range w.pods {
		if node != "" && p.Spec.NodeName == node {
			out = append(out, p.Namespace+"/"+p.Name)
		}
	}
	return out
}

// share is the namespace's part of what a machine costs, in micro-dollars.
func (w *cappedCluster) share(namespace string, keys []string, b *sim.Billed) float64 {
	if len(keys) == 0 {
		return 0
	}
	return w.weight(namespace, keys, b.InstanceType) / math.Max(1, w.weight("", keys, b.InstanceType)) * float64(b.Price)
}

// part is the namespace's part of what an option costs, in micro-dollars.
func (w *cappedCluster) part(namespace string, keys []string, o *model.Option) float64 {
	return w.weight(namespace, keys, o.InstanceType) / math.Max(1, w.weight("", keys, o.InstanceType)) * float64(w.price(o))
}

// weight is what pods hold of an instance type, those of one namespace or all.
func (w *cappedCluster) weight(namespace string, keys []string, instanceType string) float64 {
	sum := 0.0
	for key, part := range w.weights(keys, instanceType) {
		if namespace == "" || strings.HasPrefix(key, namespace+"/") {
			sum += part
		}
	}
	return sum
}

func total(parts map[string]float64) float64 {
	sum := 0.0
	for _, part := range parts {
		sum += part
	}
	return sum
}

// weights is by pod what it holds of an instance type: the larger of its parts of CPU
// and memory. What nobody asks for is paid by the namespaces whose pods keep the
// machine from being removed, half and half if both have such pods there.
func (w *cappedCluster) weights(keys []string, instanceType string) map[string]float64 {
	size, out, keepers := w.sold(instanceType).Allocatable, map[string]float64{}, map[string][]string{}
	for _, p := range w.pods {
		key := p.Namespace + "/" + p.Name
		if !slices.Contains(keys, key) {
			continue
		}
		cpu, memory := requests(p)
		out[key] = math.Max(float64(cpu)/float64(size[model.CPU]), float64(memory)/float64(size[model.Memory]))
		if p.Annotations[karpv1.AnnotationDoNotDisrupt] != "" {
			keepers[p.Namespace] = append(keepers[p.Namespace], key)
		}
	}
	rest := math.Max(0, 1-total(out))
	for _, keys := range keepers {
		for _, key := range keys {
			out[key] += rest / float64(len(keepers)) / float64(len(keys))
		}
	}
	return out
}

// limits are the hard caps in force, in micro-dollars an hour: what a scope may
// have committed now.
func (w *cappedCluster) limits() map[string]model.Price {
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
func (w *cappedCluster) surge(scope string, undone map[string]bool) model.Price {
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
