package lower

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// owners knows which objects may own pods that belong to their node. Whoever creates a
// pod writes its owner references, and the API server does not check them.
type owners struct {
	// trusted is set for manifests in files: they need not contain the owners.
	trusted    bool
	daemonSets map[types.NamespacedName]daemonSet
	nodes      map[string]types.UID
	// surplus are the pods of a DaemonSet beyond those that it may have on a node.
	surplus map[*corev1.Pod]bool
}

// mostDaemons is how many pods of a DaemonSet belong to one node: an update may run the next one
// before the last one ends. A DaemonSet deletes others, but they may take their time to end.
const mostDaemons = 2

// daemonSet is one that may own pods, and which.
type daemonSet struct {
	uid  types.UID
	pods apilabels.Selector
}

func newOwners(in *Inputs) owners {
	o := owners{trusted: !in.Live, daemonSets: make(map[types.NamespacedName]daemonSet, len(in.DaemonSets)), nodes: make(map[string]types.UID, len(in.Nodes))}
	for _, ds := range in.DaemonSets {
		pods, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
		if err != nil {
			pods = apilabels.Nothing() // the API server lets none such pass
		}
		o.daemonSets[types.NamespacedName{Namespace: ds.Namespace, Name: ds.Name}] = daemonSet{ds.UID, pods}
	}
	for _, n := range in.Nodes {
		o.nodes[n.Name] = n.UID
	}
	if in.Live {
		o.surplus = o.beyond(in.Pods)
	}
	return o
}

// beyond returns the pods of each DaemonSet beyond mostDaemons on one node: those that end, then
// the youngest.
func (o *owners) beyond(pods []*corev1.Pod) map[*corev1.Pod]bool {
	type place struct {
		set  types.UID
		node string
	}
	count := map[place]int{}
	each := func(see func(place, *corev1.Pod)) {
		for _, pod := range pods {
			if pod.Spec.NodeName != "" && IsRunning(pod) && o.isDaemon(pod) {
				if ref := metav1.GetControllerOfNoCopy(pod); ref.Kind != kindNode {
					see(place{ref.UID, pod.Spec.NodeName}, pod)
				}
			}
		}
	}
	crowded := false
	each(func(at place, _ *corev1.Pod) {
		count[at]++
		crowded = crowded || count[at] > mostDaemons
	})
	if !crowded {
		return nil
	}
	all, out := map[place][]*corev1.Pod{}, map[*corev1.Pod]bool{}
	each(func(at place, pod *corev1.Pod) {
		if count[at] > mostDaemons {
			all[at] = append(all[at], pod)
		}
	})
	for _, of := range all {
		slices.SortFunc(of, longestHere)
		for _, pod := range of[mostDaemons:] {
			out[pod] = true
		}
	}
	return out
}

// longestHere orders pods: those that end come last, and the youngest before them.
func longestHere(a, b *corev1.Pod) int {
	if ends := a.DeletionTimestamp != nil; ends != (b.DeletionTimestamp != nil) {
		if ends {
			return 1
		}
		return -1
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
}

// isDaemon is IsDaemon for a pod whose owner exists and owns it: a DaemonSet of the pod's
// namespace, which selects it, or its own node, with the UID of the reference. The DaemonSet
// disowns what it does not select, and keeps one pod on a node (see mostDaemons). A
// node's pod is static, that is, the mirror of what the kubelet runs: a pod with that
// annotation which mirrors nothing is deleted by the kubelet, and never runs. One that is being
// deleted and stays, by a finalizer, is nobody's but its namespace's.
func (o *owners) isDaemon(pod *corev1.Pod) bool {
	if !IsDaemon(pod) || o.surplus[pod] {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	if o.trusted {
		return true
	}
	if ref.Kind == kindNode {
		return pod.DeletionTimestamp.IsZero() && pod.Annotations[corev1.MirrorPodAnnotationKey] != "" && ref.Name == pod.Spec.NodeName &&
			o.exists(ref, corev1.SchemeGroupVersion.String(), o.nodes[ref.Name])
	}
	set, ok := o.daemonSets[types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}]
	return ok && o.exists(ref, appsv1.SchemeGroupVersion.String(), set.uid) && set.pods.Matches(apilabels.Set(pod.Labels))
}

// exists reports whether the reference is to the object of an API version that has the
// UID, "" for no object.
func (o *owners) exists(ref *metav1.OwnerReference, apiVersion string, uid types.UID) bool {
	return ref.APIVersion == apiVersion && uid != "" && ref.UID == uid
}
