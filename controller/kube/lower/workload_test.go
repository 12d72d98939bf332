package lower

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWorkload(t *testing.T) {
	yes := true
	for name, tc := range map[string]struct {
		reason     string
		kind, from string
		hash       string
		want       string
	}{
		"deployment":  {reason: "a ReplicaSet named after its template stands for a Deployment", kind: "ReplicaSet", from: "web-6d4b75cb6d", hash: "6d4b75cb6d", want: "Deployment/web"},
		"replica set": {reason: "a ReplicaSet of its own has no template hash", kind: "ReplicaSet", from: "web-6d4b75cb6d", want: "ReplicaSet/web-6d4b75cb6d"},
		"job":         {reason: "everything else is named as it is", kind: "Job", from: "nightly-1", hash: "1", want: "Job/nightly-1"},
		"bare":        {reason: "nobody owns the pod"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{}
			if tc.kind != "" {
				pod.OwnerReferences = []metav1.OwnerReference{{Kind: tc.kind, Name: tc.from, Controller: &yes}}
			}
			if tc.hash != "" {
				pod.Labels = map[string]string{"pod-template-hash": tc.hash}
			}
			if got := (&owners{}).workload(pod); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
