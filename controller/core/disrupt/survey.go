package disrupt

import (
	"math"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Survey holds the facts about every node that disruption needs.
type Survey struct {
	s *model.Snapshot
	// moving is by node the pods that would need another place, and used the sum of
	// the requests of all its pods.
	moving [][]int32
	used   []model.Resources
	// doNotDisrupt is by node the pod whose do-not-disrupt lasts longest.
	// blockedByBudget is by node why the first such pod may not be evicted.
	doNotDisrupt    []*model.Pod
	blockedByBudget []string
	cost, evictions []float64
	jobs            []int
	expecting       []bool
}

// NewSurvey reads every pod once. expecting are nodes that planned pods will use, in
// addition to those that the snapshot marks as nominated.
func NewSurvey(s *model.Snapshot, expecting []int32) *Survey {
	n := len(s.Nodes)
	v := &Survey{
		s: s, moving: make([][]int32, n), used: make([]model.Resources, n),
		doNotDisrupt: make([]*model.Pod, n), blockedByBudget: make([]string, n), cost: make([]float64, n), evictions: make([]float64, n), jobs: make([]int, n), expecting: make([]bool, n),
	}
	guards := newEvictionBudgets(s)
	starts := startUpSeconds(s)
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node < 0 || int(p.Node) >= n {
			continue
		}
		v.add(int32(i), p, guards)
		if !p.Ending && !p.Daemon {
			v.cost[p.Node] += podCost(p, &s.Specs[p.Spec], starts[p.Spec])
			v.evictions[p.Node] += podCost(p, &s.Specs[p.Spec], 0)
		}
	}
	for _, i := range expecting {
		v.expecting[i] = true
	}
	v.markAwaited()
	return v
}

func (v *Survey) add(i int32, p *model.Pod, guards *evictionBudgets) {
	if v.used[p.Node] == nil {
		v.used[p.Node] = model.Resources{}
	}
	v.used[p.Node].Add(v.s.Specs[p.Spec].Requests)
	if p.Job {
		v.jobs[p.Node]++
	}
	if p.Ending {
		if p.Returns() {
			v.moving[p.Node] = append(v.moving[p.Node], i)
		}
		return
	}
	if p.DoNotDisrupt && longer(p, v.doNotDisrupt[p.Node]) {
		v.doNotDisrupt[p.Node] = p
	}
	if v.blockedByBudget[p.Node] == "" {
		v.blockedByBudget[p.Node] = guards.blocking(p)
	}
	if !p.Daemon {
		v.moving[p.Node] = append(v.moving[p.Node], i)
	}
}

// longer reports whether p is protected for longer than the other pod. nil means not
// protected.
func longer(p, than *model.Pod) bool {
	switch {
	case than == nil:
		return true
	case than.HeldUntil.IsZero():
		return false
	}
	return p.HeldUntil.IsZero() || p.HeldUntil.After(than.HeldUntil)
}

// doNotDisruptBlock returns the block of a node whose pod may not be disrupted.
func doNotDisruptBlock(p *model.Pod) *Block {
	return &Block{Reason: "pod " + p.Key() + " carries karpenter.sh/do-not-disrupt", Until: p.HeldUntil, Kind: Blocked}
}

// markAwaited marks the replacements whose replaced nodes are not gone yet: pods
// will move to them.
func (v *Survey) markAwaited() {
	leaving, awaited := map[string]bool{}, map[string]bool{}
	for i := range v.s.Nodes {
		n := &v.s.Nodes[i]
		if n.State == model.Deleting {
			leaving[n.Claim] = true
		}
		if n.Command != nil {
			for _, claim := range n.Command.Replacements {
				awaited[claim] = true
			}
		}
	}
	for i := range v.s.Nodes {
		n := &v.s.Nodes[i]
		v.expecting[i] = v.expecting[i] || n.Nominated || awaited[n.Claim]
		for _, claim := range n.Replaces {
			v.expecting[i] = v.expecting[i] || leaving[claim]
		}
	}
}

// Moving returns the pods that need another place when the node is removed.
func (v *Survey) Moving(node int32) []int32 { return v.moving[node] }

// Jobs returns how many of the node's pods belong to Jobs.
func (v *Survey) Jobs(node int32) int { return v.jobs[node] }

// Used returns the share of the node's allocatable that its pods request, 0 where
// the node has none of the resource.
func (v *Survey) Used(node int32, resource string) float64 {
	all := v.s.Nodes[node].Allocatable[resource]
	if all == 0 {
		return 0
	}
	return float64(v.used[node][resource]) / float64(all)
}

// Idle returns the time since a pod last came to the node or left it.
func (v *Survey) Idle(node int32) time.Duration {
	return max(0, v.s.Time.Sub(lastEvent(&v.s.Nodes[node])))
}

func lastEvent(n *model.Node) time.Time {
	since := n.LaunchedAt
	if n.InitializedAt.After(since) {
		since = n.InitializedAt
	}
	if n.LastPodEvent.After(since) {
		since = n.LastPodEvent
	}
	return since
}

// Cost returns the disruption cost of the node. It is the sum over its pods: 1 per
// pod, adjusted by priority, deletion cost and start-up time. It decreases in
// proportion to the lifetime that is left when the node expires.
func (v *Survey) Cost(node int32) float64 {
	n := &v.s.Nodes[node]
	left := 1.0
	if !n.ExpiresAt.IsZero() && n.ExpiresAt.After(n.LaunchedAt) {
		whole := n.ExpiresAt.Sub(n.LaunchedAt).Seconds()
		left = min(1, max(0, n.ExpiresAt.Sub(v.s.Time).Seconds()/whole))
	}
	return v.cost[node] * left
}

// EvictionCost returns what consolidationPolicy Balanced counts for the node, as Karpenter
// does: 1, and 1 for each pod, adjusted by priority and deletion cost. Neither start-up
// times nor the time until the node expires matter.
func (v *Survey) EvictionCost(node int32) float64 { return 1 + v.evictions[node] }

// podCost returns the disruption cost of one pod, in [0, 10]. A pod-deletion-cost
// adds from -16 to 16 and a priority of 1e9 adds 30. Each minute of start-up time
// adds 1.
func podCost(p *model.Pod, spec *model.PodSpec, start uint16) float64 {
	cost := 1 + float64(p.DeletionCost)/math.Pow(2, 27) + float64(spec.Priority)/math.Pow(2, 25) + float64(start)/60
	return min(10, max(0, cost))
}

// startUpSeconds returns, by spec, how long its pods take to start, in seconds; 0
// when that is not known. It is the minimum over the pods: a pod that had to pull
// its image, or became unready and ready again, took longer than usual.
func startUpSeconds(s *model.Snapshot) []uint16 {
	out := make([]uint16, len(s.Specs))
	for i := range s.Pods {
		p := &s.Pods[i]
		if least := out[p.Spec]; p.StartUp > 0 && (least == 0 || p.StartUp < least) {
			out[p.Spec] = p.StartUp
		}
	}
	return out
}

// Block is why a node may not be disrupted whatever policies and prices say. Until
// is when that ends; zero when not known.
type Block struct {
	Reason string
	Until  time.Time
	Kind   Kind
}

// static is the reason for keeping a node of a static NodePool.
const static = "the NodePool is static"

// Candidate returns the method by which a node could be disrupted. ok is false for a
// node that Excused excludes. block is what stops the method now, nil for nothing.
func (v *Survey) Candidate(node int32) (m Method, block *Block, ok bool) {
	n := &v.s.Nodes[node]
	if v.Excused(node) != "" {
		return "", nil, false
	}
	d := &v.s.Pools[n.Pool].Disruption
	empty := len(v.moving[node]) == 0
	idle := v.consolidatable(n)
	if v.s.Pools[n.Pool].Replicas != nil { // a static pool's empty nodes are not consolidated
		idle = &Block{Reason: static}
	}
	switch {
	case empty && idle == nil:
		m = Empty
	case n.Drifted != "":
		if why := v.protectedBy(node, n.TerminationGrace > 0); why != nil {
			return Drifted, why, true
		}
		return Drifted, v.recentlyUndone(n), true
	case empty:
		m = Empty
	default:
		m = Underutilized
	}
	if idle == nil && m == Underutilized && d.Policy == "WhenEmpty" {
		idle = &Block{Reason: "consolidationPolicy of NodePool " + v.s.Pools[n.Pool].Name + " is WhenEmpty", Kind: NoSaving}
	}
	if why := v.protectedBy(node, false); why != nil {
		return m, why, true
	}
	if idle == nil && m == Underutilized && v.provisional(n) {
		idle = &Block{Reason: "the cloud has not said yet what it sells and for how much"}
	}
	if idle == nil && m == Underutilized {
		idle = v.recentlyUndone(n)
	}
	return m, idle, true
}

// Excused returns why a node cannot be disrupted by any method, "" when it can: it
// is being launched or deleted, unmanaged, expects pods, or is of a static NodePool
// and not drifted.
func (v *Survey) Excused(node int32) string {
	n := &v.s.Nodes[node]
	switch {
	case n.State == model.Deleting:
		return "it is on its way out"
	case n.Claim == "":
		return "it has no NodeClaim"
	case n.State != model.Initialized:
		return "it is not initialized yet"
	case n.Pool < 0:
		return "its NodePool does not exist"
	case v.expecting[node]:
		return "pods that need a place are expected on it"
	case v.s.Pools[n.Pool].Replicas != nil && n.Drifted == "":
		return static
	}
	return ""
}

// consolidatable returns what in the pool's settings prevents consolidating the node
// now; nil for nothing.
func (v *Survey) consolidatable(n *model.Node) *Block {
	d := &v.s.Pools[n.Pool].Disruption
	if d.Never {
		return &Block{Reason: "consolidateAfter is Never", Kind: NoSaving}
	}
	if due := lastEvent(n).Add(d.ConsolidateAfter); due.After(v.s.Time) {
		return &Block{Reason: "consolidateAfter has not passed", Until: due}
	}
	return nil
}

// undoneBackoff is how long a node is left alone after a disruption of it was
// undone. The same failure would be likely until then.
const undoneBackoff = 10 * time.Minute

func (v *Survey) recentlyUndone(n *model.Node) *Block {
	if until := n.UndoneAt.Add(undoneBackoff); !n.UndoneAt.IsZero() && until.After(v.s.Time) {
		return &Block{Reason: "a disruption of the node was taken back a short while ago", Until: until}
	}
	return nil
}

// protectedBy returns what protects the node or its pods; nil for nothing. bounded
// is set when the drain ends after a fixed time, so that pods cannot delay it.
func (v *Survey) protectedBy(node int32, bounded bool) *Block {
	switch {
	case v.s.Nodes[node].DoNotDisrupt:
		return &Block{Reason: "do-not-disrupt", Kind: Blocked}
	case v.zoneShifted(node):
		return &Block{Reason: "the cluster is shifted away from zone " + v.s.Nodes[node].Zone, Kind: Blocked}
	case bounded:
		return nil
	case v.doNotDisrupt[node] != nil:
		return doNotDisruptBlock(v.doNotDisrupt[node])
	case v.blockedByBudget[node] != "":
		return &Block{Reason: v.blockedByBudget[node], Kind: Blocked}
	}
	return nil
}

// provisional reports whether the prices with which the node would be compared are those of
// an earlier list.
func (v *Survey) provisional(n *model.Node) bool {
	at := v.s.Pools[n.Pool].Catalog
	return at >= 0 && int(at) < len(v.s.Catalogs) && v.s.Catalogs[at].Provisional
}

// zoneShifted reports whether a zonal shift moves the cluster away from the node's
// zone. Such a node is kept: its pods could not return to the zone, and the capacity
// is needed when the shift ends.
func (v *Survey) zoneShifted(node int32) bool {
	n := &v.s.Nodes[node]
	if n.Pool < 0 {
		return false
	}
	at := v.s.Pools[n.Pool].Catalog
	return at >= 0 && int(at) < len(v.s.Catalogs) && slices.Contains(v.s.Catalogs[at].Away, n.Zone)
}

// Still returns what prevents a node of a command under way from being removed now;
// nil for nothing.
func (v *Survey) Still(node int32, m Method) *Block {
	n := &v.s.Nodes[node]
	switch {
	case n.State != model.Initialized || n.Pool < 0:
		return &Block{Reason: "the node is " + string(n.State)}
	case m == Drifted && n.Drifted == "":
		return &Block{Reason: "the node is not drifted any more"}
	case m == Underutilized && v.s.Pools[n.Pool].Disruption.Policy == "WhenEmpty" && len(v.moving[node]) > 0:
		return &Block{Reason: "consolidationPolicy is WhenEmpty now"}
	case m == Underutilized && v.s.Pools[n.Pool].Disruption.Never:
		return &Block{Reason: "consolidateAfter is Never now"}
	}
	return v.protectedBy(node, m == Drifted && n.TerminationGrace > 0)
}

// Allowed returns how many nodes of a pool its budgets allow to be disrupted by the
// method.
func Allowed(d *model.Disruption, m Method) int {
	switch m {
	case Empty:
		return d.AllowedEmpty
	case Drifted:
		return d.AllowedDrifted
	case Underutilized:
		return d.AllowedUnderutilized
	}
	return 0
}
