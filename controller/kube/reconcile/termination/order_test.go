package termination

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestGroup: workload leaves before DaemonSets, and critical pods after the others.
func TestGroup(t *testing.T) {
	yes := true
	for name, tc := range map[string]struct {
		reason, owner, class string
		want                 int
	}{
		"workload":            {reason: "the first to leave", owner: "ReplicaSet", want: 0},
		"alone":               {reason: "nobody makes it anew, and it leaves with the others", want: 0},
		"own class":           {reason: "only the two classes of Kubernetes are critical", owner: "ReplicaSet", class: "important", want: 0},
		"daemon":              {reason: "others may need it until they have left", owner: "DaemonSet", want: 1},
		"critical":            {reason: "the cluster needs it longer", owner: "ReplicaSet", class: "system-cluster-critical", want: 2},
		"critical for a node": {reason: "the node needs it last", owner: "DaemonSet", class: "system-node-critical", want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Spec: corev1.PodSpec{PriorityClassName: tc.class}}
			if tc.owner != "" {
				p.OwnerReferences = []metav1.OwnerReference{{Kind: tc.owner, Controller: &yes}}
			}
			if got := drainGroup(p); got != tc.want {
				t.Errorf("%s: group %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
