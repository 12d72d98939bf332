package lower

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// owners knows which objects may own pods that belong to their node. Whoever creates a
// pod writes its owner references, and the API server does not check them.
type owners struct {
	// trusted is set for manifests in files: they need not contain the owners.
	trusted    bool
	daemonSets map[types.NamespacedName]types.UID
	nodes      map[string]types.UID
}

func newOwners(in *Inputs) owners {
	o := owners{trusted: !in.Live, daemonSets: make(map[types.NamespacedName]types.UID, len(in.DaemonSets)), nodes: make(map[string]types.UID, len(in.Nodes))}
	for _, ds := range in.DaemonSets {
		o.daemonSets[types.NamespacedName{Namespace: ds.Namespace, Name: ds.Name}] = ds.UID
	}
	for _, n := range in.Nodes {
		o.nodes[n.Name] = n.UID
	}
	return o
}

// isDaemon is IsDaemon for a pod whose owner exists: a DaemonSet of the pod's namespace
// or, for a static pod, its own node, with the UID of the reference.
func (o *owners) isDaemon(pod *corev1.Pod) bool {
	if !IsDaemon(pod) {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	if o.trusted {
		return true
	}
	if ref.Kind == kindNode {
		return ref.Name == pod.Spec.NodeName && o.exists(ref, corev1.SchemeGroupVersion.String(), o.nodes[ref.Name])
	}
	return o.exists(ref, appsv1.SchemeGroupVersion.String(), o.daemonSets[types.NamespacedName{Namespace: pod.Namespace, Name: ref.Name}])
}

// exists reports whether the reference is to the object of an API version that has the
// UID, "" for no object.
func (o *owners) exists(ref *metav1.OwnerReference, apiVersion string, uid types.UID) bool {
	return ref.APIVersion == apiVersion && uid != "" && ref.UID == uid
}
