package lower

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload returns what the pod runs for, as "Deployment/web": its controller, or for a
// ReplicaSet with the pod's template hash in its name, the Deployment of that
// ReplicaSet. It is "" for a pod without a controller, and for one whose node or DaemonSet
// does not exist.
func (o *owners) workload(pod *corev1.Pod) string {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || IsDaemon(pod) && !o.isDaemon(pod) {
		return ""
	}
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && hash != "" && owner.Kind == "ReplicaSet" {
		return "Deployment/" + name
	}
	return owner.Kind + "/" + owner.Name
}
