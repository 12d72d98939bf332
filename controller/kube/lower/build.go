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
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// Build makes the Snapshot. Equal inputs give equal snapshots whatever their
// order: pools come by weight, highest first, then name; nodes by name; pods
// by namespace and name.
func Build(in Inputs) (model.Snapshot, []Warning) {
	b := &builder{in: &in, lowerer: podLowerer{
		live: in.Live, admission: newAdmission(&in), hostnames: hostnamesByNode(in.Nodes),
		priorities: map[string]int32{}, volumes: newVolumes(&in), namespaces: newNamespaces(&in), droppedLabels: unselectedLabels(in.Pods, in.PodBudgets),
	}}
	b.owners = newOwners(&in)
	b.claimUsers = claimUsers{volumes: &b.lowerer.volumes, count: map[attachmentKey]int64{}}
	b.out = model.Snapshot{Time: in.Time.UTC(), Seed: in.Seed, Cluster: in.Cluster, Settings: in.Settings}
	for _, c := range in.PriorityClasses {
		b.lowerer.priorities[c.Name] = c.Value
		if c.GlobalDefault {
			b.lowerer.defaultPriority = c.Value
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

// builder makes one snapshot.
//
// Size: one method for each list of the snapshot and for each thing that it looks up for
// several of them.
type builder struct {
	in       *Inputs
	lowerer  podLowerer
	out      model.Snapshot
	warnings []Warning

	catalogAt map[string]int32 // node class
	// chosenCatalogs are those with labels that pools choose, see catalogWith.
	chosenCatalogs map[string]int32
	types          []map[string]*model.InstanceType
	poolAt         map[string]int32
	nodePools      []*karpv1.NodePool // of out.Pools
	nodeAt         map[string]int32   // node name
	claimAt        map[string]int32
	claims         []*karpv1.NodeClaim // of out.Nodes, nil for unmanaged ones

	claimUsers claimUsers
	owners     owners
}

func (b *builder) warn(object, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{Object: object, Message: fmt.Sprintf(format, args...)})
}

// report is warn with the reason of an event.
func (b *builder) report(reason, object, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{Object: object, Message: fmt.Sprintf(format, args...), Reason: reason})
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
	b.nodePools = slices.Clone(b.in.NodePools)
	weight := func(np *karpv1.NodePool) int32 {
		if np.Spec.Weight == nil {
			return 0
		}
		return *np.Spec.Weight
	}
	slices.SortFunc(b.nodePools, func(x, y *karpv1.NodePool) int {
		if o := cmp.Compare(weight(y), weight(x)); o != 0 {
			return o
		}
		return cmp.Compare(x.Name, y.Name)
	})
	b.poolAt = make(map[string]int32, len(b.nodePools))
	for i, np := range b.nodePools {
		p := Pool(np)
		if at, ok := b.catalogAt[p.NodeClass]; ok {
			p.Catalog = at
			if chosen, _ := ChosenLabels(np.Spec.Template.Spec.Requirements); chosen != nil {
				p.Catalog = b.catalogWith(at, chosen)
			}
		}
		if p.NotReady == "" {
			p.NotReady = b.notReady(&p)
		}
		if p.NotReady != "" {
			b.warn("NodePool "+np.Name, "launches nothing: %s", p.NotReady)
		}
		p.Usage = model.Resources{}
		b.poolAt[np.Name] = int32(i)
		b.out.Pools = append(b.out.Pools, p)
	}
}

// notReady says why nothing can be launched from a valid pool, "" when it can.
func (b *builder) notReady(p *model.Pool) string {
	if b.in.ClassReady != nil {
		if ok, why := b.in.ClassReady(p.NodeClass); !ok {
			return fmt.Sprintf("EC2NodeClass %s: %s", p.NodeClass, why)
		}
	}
	if p.Replicas != nil && !b.in.Settings.StaticCapacity {
		return staticCapacityOff
	}
	return ""
}

func (b *builder) nodes() {
	pairs := append(b.claimNodes(), b.unclaimed()...)
	all := make([]model.Node, len(pairs))
	order := make([]int, len(pairs))
	for i := range pairs {
		if order[i] = i; pairs[i].instance != nil {
			all[i] = unclaimedNode(pairs[i].instance)
		} else {
			all[i] = Node(pairs[i].node, pairs[i].claim, b.in.Time)
		}
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
		if pairs[i].instance != nil {
			b.addUnclaimed(all[i])
			continue
		}
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
	b.identify(&n, node, claim)
	if claim != nil {
		b.claimAt[claim.Name] = at
		if p, ok := b.poolAt[n.PoolName]; ok {
			n.Pool, n.PoolName = p, ""
		}
		if len(claim.Status.Capacity) > 0 && (node == nil || n.State == model.Registered) {
			capacity = quantity.Resources(claim.Status.Capacity)
		}
		if n.Pool < 0 {
			n.PoolLabels = poolLabels(claim)
		}
		b.completeFromCatalog(&n, claim, &capacity)
		b.boundSize(&n, &capacity, node, claim)
	}
	if n.Pool >= 0 && n.State != model.Deleting { // so that a pool at its limit can replace it
		usage := b.out.Pools[n.Pool].Usage
		usage.Add(capacity)
		usage[model.NodeCount]++
	}
	b.claims = append(b.claims, claim)
	b.out.Nodes = append(b.out.Nodes, n)
}

// completeFromCatalog adds what the catalogue says about the instance type of a managed node:
// capacity, allocatable, price and the node class's extra cost.
func (b *builder) completeFromCatalog(n *model.Node, claim *karpv1.NodeClaim, capacity *model.Resources) {
	var types map[string]*model.InstanceType
	if at, ok := b.catalogAt[claim.Spec.NodeClassRef.Name]; ok {
		types = b.types[at]
		n.Extra = b.out.Catalogs[at].NodeCost
	}
	if bought := boughtOf(claim); bought != nil { // the class may have been edited since, or be of no use now
		n.Extra = max(n.Extra, bought.Extra)
	}
	opts := options(claim)
	recorded := claim.Labels[corev1.LabelInstanceTypeStable] != "" // the launch is done, its condition not yet written
	if n.State == model.InFlight && n.LaunchedAt.IsZero() && len(opts) > 0 && !recorded {
		setCommonFields(n, opts, types)
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
	b.setPrices(n, claim, opts)
	if len(n.Allocatable) == 0 {
		// Another controller made the claim: the node is assumed to hold at least the
		// claim's requests.
		n.Allocatable = quantity.Resources(claim.Spec.Resources.Requests)
	}
	if n.State == model.InFlight {
		requested := func(name string) bool { _, ok := claim.Spec.Resources.Requests[corev1.ResourceName(name)]; return ok }
		n.Allocatable = provider.WithoutUnrequested(n.Allocatable, requested)
		*capacity = provider.WithoutUnrequested(*capacity, requested)
	}
}

func (b *builder) pods() {
	pods := slices.Clone(b.in.Pods)
	slices.SortFunc(pods, func(x, y *corev1.Pod) int {
		if o := strings.Compare(x.Namespace, y.Namespace); o != 0 {
			return o
		}
		return strings.Compare(x.Name, y.Name)
	})
	b.in.SpecCache.begin(len(pods), b.lowerer.droppedLabels)
	defer b.in.SpecCache.end()
	intern := newInterner(&b.lowerer, b.in.SpecCache)
	planned := newPlannedPods(b)
	follow := newAnnounced(b, planned)
	together := newRollout(b.in)
	stuck := unevictable{b: b}
	b.out.Pods = make([]model.Pod, 0, len(pods))
	lost := map[string]int{}
	nobody := unserved{schedulers: unservedSchedulers(pods, b.in.Time)}
	for _, pod := range pods {
		var node int32
		daemon := b.owners.isDaemon(pod)
		var stays bool
		switch {
		case IsRunning(pod):
			at, ok := b.nodeAt[pod.Spec.NodeName]
			if !ok {
				if node, ok = planned.nodeOfLost(pod); !ok {
					lost[pod.Spec.NodeName]++
					continue
				}
			} else if node, stays = at, stuck.has(pod, at); !stays {
				node = planned.nextNode(pod, at)
			}
		case !daemon && nobody.waits(pod):
			node = -1
			nobody.pods = append(nobody.pods, unservedPod{int32(len(b.out.Pods)), pod.Spec.SchedulerName})
		case daemon || !lacksNode(pod, follow.tried(pod)):
			continue
		default:
			node = planned.nominate(pod, follow)
		}
		b.claimUsers.add(pod, node)
		together.see(len(b.out.Pods), controllerUID(pod), pod, node)
		b.out.Pods = append(b.out.Pods, model.Pod{
			UID: string(pod.UID), Namespace: pod.Namespace, Name: pod.Name, Workload: b.owners.workload(pod),
			Spec: intern.spec(pod), Node: node, Created: pod.CreationTimestamp.UTC(),
			DoNotDisrupt: IsProtected(pod, b.in.Time), HeldUntil: protectedUntil(pod, b.in.Time), Daemon: daemon, Job: isJob(pod),
			Ending: !pod.DeletionTimestamp.IsZero(), Unready: isUnready(pod), DeletionCost: deletionCost(pod),
			StartUp: startUp(pod), Final: isFinal(pod), Unevictable: stays,
		})
	}
	follow.add(intern, planned, together)
	b.out.Specs = intern.specs
	nobody.mark(&b.out)
	b.setVolumeLimits()
	planned.withdrawUnfit()
	b.moves(planned.unbound)
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
			b.out.Daemons = append(b.out.Daemons, b.lowerer.daemonSet(ds))
		}
	}
}
