package lower

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestQuotas: no more pods are announced than the quotas of the namespace let in.
func TestQuotas(t *testing.T) {
	pod := parse[corev1.Pod](t, `{metadata: {namespace: shop}, spec: {containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Gi, example.com/gpu: "1"}, limits: {memory: 2Gi, example.com/gpu: "1"}}}]}}`)
	for name, tc := range map[string]struct {
		reason string
		quotas []string
		want   int
	}{
		"none":        {reason: "nothing limits the namespace", want: 100},
		"pods":        {reason: "three are left", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {pods: "10"}}, status: {hard: {pods: "10"}, used: {pods: "7"}}}`}, want: 3},
		"object":      {reason: "the same by the name of the object", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {count/pods: "10"}}, status: {hard: {count/pods: "10"}, used: {count/pods: "6"}}}`}, want: 4},
		"cpu":         {reason: "2.2 CPUs are left", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {cpu: "4"}}, status: {hard: {cpu: "4"}, used: {cpu: 1800m}}}`}, want: 4},
		"requests":    {reason: "by their long name", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {requests.memory: 4Gi}}, status: {hard: {requests.memory: 4Gi}, used: {requests.memory: 2Gi}}}`}, want: 2},
		"limits":      {reason: "what a container may use", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {limits.memory: 8Gi}}, status: {hard: {limits.memory: 8Gi}}}`}, want: 4},
		"devices":     {reason: "of other resources, too", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {requests.example.com/gpu: "8"}}, status: {hard: {requests.example.com/gpu: "8"}, used: {requests.example.com/gpu: "3"}}}`}, want: 5},
		"two":         {reason: "each holds", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {pods: "10"}}, status: {hard: {pods: "10"}}}`, `{metadata: {namespace: shop}, spec: {hard: {cpu: "1"}}, status: {hard: {cpu: "1"}}}`}, want: 2},
		"exceeded":    {reason: "lowered below what is used", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {pods: "5"}}, status: {hard: {pods: "5"}, used: {pods: "7"}}}`}},
		"unknown yet": {reason: "the API server lets nothing in before it has counted", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {pods: "5"}}}`}},
		"another's":   {reason: "a quota holds in its namespace", quotas: []string{`{metadata: {namespace: other}, spec: {hard: {pods: "0"}}, status: {hard: {pods: "0"}}}`}, want: 100},
		"of others":   {reason: "Secrets are no pods", quotas: []string{`{metadata: {namespace: shop}, spec: {hard: {secrets: "0"}}, status: {hard: {secrets: "0"}}}`}, want: 100},
	} {
		t.Run(name, func(t *testing.T) {
			var all []*corev1.ResourceQuota
			for _, text := range tc.quotas {
				all = append(all, parse[corev1.ResourceQuota](t, text))
			}
			q := newQuotas(all)
			if got := q.take(pod, 100); got != tc.want {
				t.Errorf("%s: %d pods, want %d", tc.reason, got, tc.want)
			}
			if again := q.take(pod, 100); tc.want < 100 && again != 0 {
				t.Errorf("%s: %d more pods for another owner", tc.reason, again)
			}
		})
	}
}
