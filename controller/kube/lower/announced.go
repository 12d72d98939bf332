package lower

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// announced are the pods that owners have announced and not created yet, and the places
// that earlier decisions have planned for such pods.
type announced struct {
	b *builder
	// owners are those of which a pod waits, by UID. counts has, for those of them that are
	// creating pods, how many will follow; 0 when all exist.
	owners map[types.UID]*announcer
	counts map[types.UID]int
	// places are what is left of the announced pods of each claim, by the index of its node
	// and the key of the owner.
	places map[int32]map[string]int
	// nodes are the keys of places, in order.
	nodes []int32
	// came has the nodes of pods that were let onto a node as soon as they came, by
	// "namespace/name": they have taken an announced place that no claim says yet.
	came map[string]int32
}

// newAnnounced finds out which owners announce pods. planned knows the claims.
func newAnnounced(b *builder, planned *plannedPods) *announced {
	a := &announced{b: b, owners: newAnnouncers(b.in), counts: map[types.UID]int{}, places: map[int32]map[string]int{}, came: map[string]int32{}}
	overdue := a.readPlaces(planned)
	a.readCame(planned)
	left, quota := announcedMost, newQuotas(b.in.ResourceQuotas)
	for _, uid := range a.order() {
		owner := a.owners[uid]
		n, ok := owner.follow(b.in.Time)
		if !ok {
			continue
		}
		if n = min(n, left); overdue[owner.key] || hasOwnVolumes(owner.waiting) {
			n = 0
		}
		n = quota.take(owner.waiting, n)
		a.counts[uid], left = n, left-n
	}
	return a
}

// order returns the UIDs of the owners by key.
func (a *announced) order() []types.UID {
	return slices.SortedFunc(maps.Keys(a.owners), func(x, y types.UID) int {
		return strings.Compare(a.owners[x].key+"/"+string(x), a.owners[y].key+"/"+string(y))
	})
}

// hasOwnVolumes reports whether a pod of a StatefulSet has volumes that its successors
// will not share: nobody knows in which zone theirs will be.
func hasOwnVolumes(pod *corev1.Pod) bool {
	return isStateful(pod) && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim != nil })
}

// readPlaces reads what claims say about announced pods. It returns the owners whose pods
// have not come for too long to one of the nodes.
func (a *announced) readPlaces(planned *plannedPods) map[string]bool {
	overdue := map[string]bool{}
	for i, claim := range a.b.claims {
		if claim == nil || a.b.out.Nodes[i].State == model.Deleting {
			continue
		}
		places := AnnouncedPods(claim)
		if len(places) == 0 {
			continue
		}
		if late := a.late(int32(i)); late || !planned.awaitsPods(int32(i)) {
			for owner := range places {
				overdue[owner] = overdue[owner] || late
			}
			continue
		}
		a.places[int32(i)] = places
		a.nodes = append(a.nodes, int32(i))
	}
	return overdue
}

// readCame finds the pods that have taken an announced place of their owner on a node whose
// claim does not name them: those that were let in or tolerate its reservation, and wait, and
// those that are bound there already. (Of bound pods nobody keeps the toleration.)
func (a *announced) readCame(named *plannedPods) {
	if len(a.nodes) == 0 {
		return
	}
	byUID, names := make(map[string]int32, len(a.nodes)), map[int32]map[string]bool{}
	for _, node := range a.nodes {
		if uid := a.b.claims[node].UID; uid != "" {
			byUID[string(uid)] = node
		}
		names[node] = map[string]bool{}
		for _, key := range PlannedPods(a.b.claims[node]) {
			names[node][key] = true
		}
	}
	for _, pod := range a.b.in.Pods {
		key, owner := pod.Namespace+"/"+pod.Name, OwnerKey(pod)
		if owner == "" {
			continue
		}
		if _, waits := named.forPending[key]; waits && pod.Spec.NodeName == "" {
			continue // another claim, or this one, names it
		}
		for _, node := range a.letOnto(pod, byUID) {
			if !names[node][key] && a.places[node][owner] > 0 {
				a.places[node][owner]--
				a.came[key] = node
				a.adopted(node, pod, owner)
				break
			}
		}
	}
}

// letOnto returns the nodes onto which a waiting pod was let or whose reservations it
// tolerates, and the node of a bound one, of those with announced places.
func (a *announced) letOnto(pod *corev1.Pod, byUID map[string]int32) []int32 {
	if pod.Spec.NodeName != "" {
		if at, ok := a.b.nodeAt[pod.Spec.NodeName]; ok && IsRunning(pod) && a.places[at] != nil {
			return []int32{at}
		}
		return nil
	}
	if !lacksNode(pod, false) {
		return nil
	}
	var out []int32
	if a.b.in.LetIn != nil {
		if at, ok := a.b.claimAt[a.b.in.LetIn(pod.Namespace+"/"+pod.Name)]; ok && a.places[at] != nil {
			out = append(out, at)
		}
	}
	for i := range pod.Spec.Tolerations {
		if t := &pod.Spec.Tolerations[i]; t.Key == karpv1.TaintKeyReserved {
			if node, ok := byUID[t.Value]; ok {
				out = append(out, node)
			}
		}
	}
	return out
}

// adopted tells that a pod has taken the place of an announced one.
func (a *announced) adopted(node int32, pod *corev1.Pod, owner string) {
	if a.b.in.Adopt != nil {
		a.b.in.Adopt(a.b.claims[node].Name, pod.Namespace+"/"+pod.Name, owner)
	}
}

// late reports whether the node has waited for announced pods for as long as it may: for
// consolidateAfter of its NodePool.
func (a *announced) late(node int32) bool {
	n := &a.b.out.Nodes[node]
	if n.State != model.Initialized {
		return false
	}
	limit := bindTimeout
	if n.Pool >= 0 && !a.b.out.Pools[n.Pool].Disruption.Never {
		limit = min(limit, a.b.out.Pools[n.Pool].Disruption.ConsolidateAfter)
	}
	c := meta.FindStatusCondition(a.b.claims[node].Status.Conditions, karpv1.ConditionInitialized)
	return c == nil || a.b.in.Time.Sub(c.LastTransitionTime.Time) >= limit
}

// AnnouncedPods returns how many pods that owners have announced a claim was made for, by
// the key of the owner ([OwnerKey]): of each owner no more than a snapshot has at most.
func AnnouncedPods(claim *karpv1.NodeClaim) map[string]int {
	var out map[string]int
	if err := json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationAnnouncedPods]), &out); err != nil {
		return nil
	}
	maps.DeleteFunc(out, func(_ string, n int) bool { return n <= 0 })
	for owner, n := range out {
		out[owner] = min(n, announcedMost)
	}
	return out
}

// tried reports whether the pod has to have been tried by its scheduler before it counts
// as waiting. A pod of an owner that is creating pods counts as soon as another one waits,
// as those do that do not exist yet, and so does one that has taken an announced place.
func (a *announced) tried(pod *corev1.Pod) bool {
	_, creating := a.counts[controllerUID(pod)]
	_, came := a.came[pod.Namespace+"/"+pod.Name]
	return a.b.in.Live && !creating && !came
}

// take returns the index of the node on which a place is planned for a further pod of the
// owner, -1 for none, and takes the place.
func (a *announced) take(owner string) int32 {
	for _, node := range a.nodes {
		if places := a.places[node]; places[owner] > 0 {
			places[owner]--
			return node
		}
	}
	return -1
}

// adopt returns the index of the node of which a pod that has come takes an announced
// place, -1 for none.
func (a *announced) adopt(pod *corev1.Pod) int32 {
	if at, ok := a.came[pod.Namespace+"/"+pod.Name]; ok {
		return at
	}
	owner := OwnerKey(pod)
	if owner == "" || len(a.nodes) == 0 {
		return -1
	}
	at := a.take(owner)
	if at >= 0 {
		a.adopted(at, pod, owner)
	}
	return at
}

// add adds the announced pods to the snapshot, after all others: first on the places that
// are planned for them, the rest without a node. Those of a rollout that goes on are left to
// it, and their owners count as ones that have announced nothing yet.
func (a *announced) add(intern *interner, planned *plannedPods, together *rollout) {
	b := a.b
	for _, uid := range a.order() {
		owner := a.owners[uid]
		for k := range a.counts[uid] {
			if k == 0 && len(intern.specs[intern.spec(owner.waiting)].Unsupported) > 0 {
				break
			}
			a.addPod(uid, k, intern, planned)
			together.see(len(b.out.Pods)-1, uid, owner.waiting, b.out.Pods[len(b.out.Pods)-1].Node)
		}
	}
	held := together.hold(&b.out)
	if b.in.Announces != nil {
		b.in.Announces(a.expected(held), together.began, held)
	}
	if b.in.Withdraw == nil {
		return
	}
	for _, node := range a.nodes {
		for _, owner := range slices.Sorted(maps.Keys(a.places[node])) {
			if a.places[node][owner] > 0 {
				b.in.Withdraw(b.claims[node].Name, owner, a.places[node][owner])
			}
		}
	}
}

// addPod adds number k of the owner's announced pods.
func (a *announced) addPod(uid types.UID, k int, intern *interner, planned *plannedPods) {
	b, owner := a.b, a.owners[uid]
	like := owner.waiting
	node := a.take(owner.key)
	if node >= 0 {
		b.out.Nodes[node].Nominated = true
		planned.unbound = append(planned.unbound, plannedPod{index: len(b.out.Pods), boundTo: -1, object: like})
	}
	b.claimUsers.add(like, node)
	name := owner.key[strings.LastIndexByte(owner.key, '/')+1:]
	b.out.Pods = append(b.out.Pods, model.Pod{
		UID: fmt.Sprintf("%s/announced/%d", uid, k), Namespace: like.Namespace, Name: fmt.Sprintf("%s (announced %d)", name, k+1),
		Announced: owner.key, Workload: b.owners.workload(like), Spec: intern.spec(like), Node: node, Created: like.CreationTimestamp.UTC(),
		DoNotDisrupt: IsProtected(like, b.in.Time), HeldUntil: protectedUntil(like, b.in.Time), Job: isJob(like), DeletionCost: deletionCost(like),
	})
}

// expected returns the owners that are creating pods in this snapshot, by UID, without those
// whose pods are held.
func (a *announced) expected(held map[types.UID]bool) map[types.UID]bool {
	out := make(map[types.UID]bool, len(a.counts))
	for uid := range a.counts {
		if !held[uid] {
			out[uid] = true
		}
	}
	return out
}
