package lower

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// workload names what a pod runs for, "Deployment/web": its controller, or the
// Deployment behind a ReplicaSet, whose name ends in the pods' template hash.
// A pod without a controller has none.
func workload(pod *corev1.Pod) string {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return ""
	}
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && hash != "" && owner.Kind == "ReplicaSet" {
		return "Deployment/" + name
	}
	return owner.Kind + "/" + owner.Name
}
