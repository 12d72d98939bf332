package lower

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// Build makes the Snapshot. Equal inputs give equal snapshots whatever their
// order: pools come by weight, highest first, then name; nodes by name; pods
// by namespace and name.
func Build(in Inputs) (model.Snapshot, []Warning) {
	b := &builder{in: &in, around: surroundings{
		live: in.Live, admission: newAdmission(&in), hosts: hosts(in.Nodes),
		priorities: map[string]int32{}, volumes: newVolumes(&in), namespaces: newNamespaces(&in), numbering: unselected(in.Pods, in.PodBudgets),
	}}
	b.out = model.Snapshot{Time: in.Time.UTC(), Seed: in.Seed, Cluster: in.Cluster, Settings: in.Settings}
	for _, c := range in.PriorityClasses {
		b.around.priorities[c.Name] = c.Value
		if c.GlobalDefault {
			b.around.ordinary = c.Value
		}
	}
	b.catalogs()
	b.pools()
	b.nodes()
	b.pods()
	b.placeholders()
	b.daemons()
	b.budgets()
	b.podBudgets()
	return b.out, b.warnings
}

type builder struct {
	in       *Inputs
	around   surroundings
	out      model.Snapshot
	warnings []Warning

	catalogAt map[string]int32 // node class
	types     []map[string]*model.InstanceType
	poolAt    map[string]int32
	sources   []*karpv1.NodePool // of out.Pools
	nodeAt    map[string]int32   // node name
	claimAt   map[string]int32
	// mounts counts, for each node and volume claim, the pods on the node that use the
	// claim.
	mounts map[attachment]int64
	claims []*karpv1.NodeClaim // of out.Nodes, nil for unmanaged ones
}

func (b *builder) warn(object, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{Object: object, Message: fmt.Sprintf(format, args...)})
}

func (b *builder) catalogs() {
	b.catalogAt = make(map[string]int32, len(b.in.Catalogs))
	for _, class := range slices.Sorted(maps.Keys(b.in.Catalogs)) {
		c := b.in.Catalogs[class]
		c.NodeClass = class
		b.catalogAt[class] = int32(len(b.out.Catalogs))
		b.out.Catalogs = append(b.out.Catalogs, c)
		types := make(map[string]*model.InstanceType, len(c.Types))
		for i := range c.Types {
			types[c.Types[i].Name] = &c.Types[i]
		}
		b.types = append(b.types, types)
	}
}

func (b *builder) pools() {
	b.sources = slices.Clone(b.in.NodePools)
	weight := func(np *karpv1.NodePool) int32 {
		if np.Spec.Weight == nil {
			return 0
		}
		return *np.Spec.Weight
	}
	slices.SortFunc(b.sources, func(x, y *karpv1.NodePool) int {
		if o := cmp.Compare(weight(y), weight(x)); o != 0 {
			return o
		}
		return cmp.Compare(x.Name, y.Name)
	})
	b.poolAt = make(map[string]int32, len(b.sources))
	for i, np := range b.sources {
		p := Pool(np)
		if at, ok := b.catalogAt[p.NodeClass]; ok {
			p.Catalog = at
		}
		if p.NotReady == "" && b.in.ClassReady != nil {
			if ok, why := b.in.ClassReady(p.NodeClass); !ok {
				p.NotReady = fmt.Sprintf("EC2NodeClass %s: %s", p.NodeClass, why)
			}
		}
		if p.Replicas != nil && p.NotReady == "" && !b.in.Settings.StaticCapacity {
			p.NotReady = withoutGate
		}
		if p.NotReady != "" {
			b.warn("NodePool "+np.Name, "launches nothing: %s", p.NotReady)
		}
		p.Usage = model.Resources{}
		b.poolAt[np.Name] = int32(i)
		b.out.Pools = append(b.out.Pools, p)
	}
}

func (b *builder) nodes() {
	pairs := b.pairs()
	all := make([]model.Node, len(pairs))
	order := make([]int, len(pairs))
	for i := range pairs {
		all[i] = Node(pairs[i].node, pairs[i].claim, b.in.Time)
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int {
		if o := cmp.Compare(all[x].Name, all[y].Name); o != 0 {
			return o
		}
		return cmp.Compare(all[x].Claim, all[y].Claim)
	})
	b.nodeAt = make(map[string]int32, len(pairs))
	b.claimAt = make(map[string]int32, len(b.in.NodeClaims))
	for _, i := range order {
		b.addNode(all[i], pairs[i].node, pairs[i].claim)
	}
}

func (b *builder) addNode(n model.Node, node *corev1.Node, claim *karpv1.NodeClaim) {
	at := int32(len(b.out.Nodes))
	capacity := model.Resources{}
	if node != nil {
		b.nodeAt[node.Name] = at
		capacity = quantity.Resources(node.Status.Capacity)
	}
	if claim != nil {
		b.claimAt[claim.Name] = at
		if p, ok := b.poolAt[claim.Labels[karpv1.LabelNodePool]]; ok {
			n.Pool = p
		}
		if len(claim.Status.Capacity) > 0 && (node == nil || n.State == model.Registered) {
			capacity = quantity.Resources(claim.Status.Capacity)
		}
		if n.Pool < 0 {
			n.PoolLabels = poolLabels(claim)
		}
		b.complete(&n, claim, &capacity)
	}
	if n.Pool >= 0 {
		usage := b.out.Pools[n.Pool].Usage
		usage.Add(capacity)
		usage[model.NodeCount]++
	}
	b.claims = append(b.claims, claim)
	b.out.Nodes = append(b.out.Nodes, n)
}

// complete adds what the catalogue says about the instance type of a managed node:
// capacity, allocatable, price and the node class's extra cost.
func (b *builder) complete(n *model.Node, claim *karpv1.NodeClaim, capacity *model.Resources) {
	var types map[string]*model.InstanceType
	if at, ok := b.catalogAt[claim.Spec.NodeClassRef.Name]; ok {
		types = b.types[at]
		n.Extra = b.out.Catalogs[at].NodeCost
	}
	opts := options(claim)
	recorded := claim.Labels[corev1.LabelInstanceTypeStable] != "" // the launch is done, its condition not yet written
	if n.State == model.InFlight && n.LaunchedAt.IsZero() && len(opts) > 0 && !recorded {
		narrow(n, opts, types)
		b.takeReservedPlace(claim.Spec.NodeClassRef.Name, &opts[0])
		if t := types[opts[0].InstanceType]; t != nil && len(*capacity) == 0 {
			*capacity = t.Capacity
		}
	}
	if t := types[n.InstanceType]; t != nil {
		if len(n.Allocatable) == 0 {
			n.Allocatable = t.Allocatable
		}
		if len(*capacity) == 0 {
			*capacity = t.Capacity
		}
	}
	b.price(n, claim, opts)
	if len(n.Allocatable) == 0 {
		// Another controller made the claim: the node is assumed to hold at least the
		// claim's requests.
		n.Allocatable = quantity.Resources(claim.Spec.Resources.Requests)
	}
}

// settling is how long a planned pod may stay unbound on an initialized node
// before it counts as pending again.
const settling = 30 * time.Second

func (b *builder) pods() {
	places, lasting := b.places()
	pods := slices.Clone(b.in.Pods)
	slices.SortFunc(pods, func(x, y *corev1.Pod) int {
		if o := strings.Compare(x.Namespace, y.Namespace); o != 0 {
			return o
		}
		return strings.Compare(x.Name, y.Name)
	})
	b.in.Memo.begin(len(pods), b.around.numbering)
	defer b.in.Memo.end()
	intern := newInterner(&b.around, b.in.Memo)
	b.out.Pods = make([]model.Pod, 0, len(pods))
	lost := map[string]int{}
	var unbound []expected
	for _, pod := range pods {
		var node int32
		switch {
		case Running(pod):
			at, ok := b.nodeAt[pod.Spec.NodeName]
			if !ok {
				lost[pod.Spec.NodeName]++
				continue
			}
			node = at
			if to := b.moving(pod, at, lasting); to >= 0 {
				node = to
				unbound = append(unbound, expected{len(b.out.Pods), at, pod})
			}
		case !Waiting(pod, b.in.Live):
			continue
		default:
			if node = b.place(pod, places); node >= 0 {
				unbound = append(unbound, expected{len(b.out.Pods), -1, pod})
			}
		}
		b.mount(pod, node)
		b.out.Pods = append(b.out.Pods, model.Pod{
			UID: string(pod.UID), Namespace: pod.Namespace, Name: pod.Name, Workload: workload(pod),
			Spec: intern.spec(pod), Node: node, Created: pod.CreationTimestamp.UTC(),
			DoNotDisrupt: Protected(pod, b.in.Time), HeldUntil: heldUntil(pod, b.in.Time), Daemon: Daemon(pod), Job: ofJob(pod),
			Ending: !pod.DeletionTimestamp.IsZero(), Unready: unready(pod), DeletionCost: deletionCost(pod),
			StartUp: startUp(pod), Final: final(pod),
		})
	}
	b.out.Specs = intern.specs
	b.attachments()
	b.overflow(unbound)
	b.moves(unbound)
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		b.warn("Node "+name, "does not exist; its %d pods are left out", lost[name])
	}
}

func started(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

// places returns, by namespace/name of the pods, the indices of the nodes onto which
// NodeClaims plan them. waiting covers only nodes on which a planned pod may still land
// (expects) and is for pending pods; moving covers every node that is not being deleted
// and is for pods that are still bound to another node.
func (b *builder) places() (waiting, moving map[string]int32) {
	waiting, moving = map[string]int32{}, map[string]int32{}
	for i, claim := range b.claims {
		if claim == nil || b.out.Nodes[i].State == model.Deleting {
			continue
		}
		expects := b.expects(int32(i))
		for _, key := range planned(claim) {
			if expects {
				waiting[key] = int32(i)
			}
			moving[key] = int32(i)
		}
	}
	return waiting, moving
}

// expects reports whether planned pods may still land on the node: it is not
// initialized yet, or it became initialized less than settling ago.
func (b *builder) expects(i int32) bool {
	switch b.out.Nodes[i].State {
	case model.InFlight, model.Registered:
		return true
	case model.Initialized:
		c := condition(b.claims[i].Status.Conditions, karpv1.ConditionInitialized)
		return c != nil && b.in.Time.Sub(c.LastTransitionTime.Time) < settling
	case model.Deleting, model.Unmanaged:
		return false
	}
	return false
}

// place returns the index of the node that a pending pod waits for, or -1, and marks
// that node as nominated.
func (b *builder) place(pod *corev1.Pod, places map[string]int32) int32 {
	at, ok := places[pod.Namespace+"/"+pod.Name]
	if claim, told := b.in.Planned[string(pod.UID)]; told && !ok {
		at, ok = b.claimAt[claim]
		ok = ok && b.out.Nodes[at].State != model.Deleting
	}
	if name := pod.Status.NominatedNodeName; name != "" && !ok {
		at, ok = b.nodeAt[name]
		ok = ok && b.claims[at] != nil && b.expects(at)
	}
	if !ok {
		return -1
	}
	b.out.Nodes[at].Nominated = true
	return at
}

// moving returns the index of the node onto which a pod is planned next, or -1. The pod
// is bound to a node that is being deleted; the other node was launched for it, or room
// for it was kept on a node in flight. The room stays the pod's for as long as the pod
// exists: the pod that its controller creates instead has another name, and by then the
// room is free.
func (b *builder) moving(pod *corev1.Pod, from int32, places map[string]int32) int32 {
	if b.out.Nodes[from].State != model.Deleting || Daemon(pod) || !pod.DeletionTimestamp.IsZero() || final(pod) {
		return -1
	}
	to, ok := places[pod.Namespace+"/"+pod.Name]
	if !ok {
		return -1
	}
	b.out.Nodes[to].Nominated = true
	return to
}

// expected is a pod for which room is kept on a node. home is the node to which it is
// bound meanwhile, -1 for a pending pod.
type expected struct {
	pod  int
	home int32
	of   *corev1.Pod
}

// overflow takes planned pods back from initialized nodes that have no room left for
// them, because other pods were bound there first and the scheduler would find no room.
// Such a pod is placed on its home node again, or is pending.
func (b *builder) overflow(unbound []expected) {
	left := map[int32]model.Resources{}
	waiting := map[int]bool{}
	for _, e := range unbound {
		waiting[e.pod] = true
		at := b.out.Pods[e.pod].Node
		if n := &b.out.Nodes[at]; n.State == model.Initialized {
			left[at] = n.Allocatable.Clone()
			n.Nominated = false
		}
	}
	if len(left) == 0 {
		return
	}
	for i := range b.out.Pods {
		if room := left[b.out.Pods[i].Node]; room != nil && !waiting[i] {
			take(room, b.out.Specs[b.out.Pods[i].Spec].Requests)
		}
	}
	for _, e := range unbound {
		p := &b.out.Pods[e.pod]
		room := left[p.Node]
		switch {
		case room == nil:
		case holds(room, b.out.Specs[p.Spec].Requests):
			take(room, b.out.Specs[p.Spec].Requests)
			b.out.Nodes[p.Node].Nominated = true
		default:
			b.unmount(e.of, p.Node, room)
			p.Node = e.home
		}
	}
}

func holds(room, requests model.Resources) bool {
	for name, n := range requests {
		if n > room[name] {
			return false
		}
	}
	return true
}

func take(room, requests model.Resources) {
	for name, n := range requests {
		room[name] -= n
	}
}

func (b *builder) daemons() {
	sets := slices.Clone(b.in.DaemonSets)
	slices.SortFunc(sets, func(x, y *appsv1.DaemonSet) int {
		if o := strings.Compare(x.Namespace, y.Namespace); o != 0 {
			return o
		}
		return strings.Compare(x.Name, y.Name)
	})
	for _, ds := range sets {
		if ds.DeletionTimestamp.IsZero() {
			b.out.Daemons = append(b.out.Daemons, b.around.daemonSet(ds))
		}
	}
}
