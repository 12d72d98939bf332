package badobjects

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// malformed are objects that the API server accepts and that cannot be used, or hardly.
func malformed() []string {
	pods := 0
	pod := func(spec string) string {
		pods++
		return fmt.Sprintf(`{"kind": "Pod", "metadata": {"name": "odd-%d", "namespace": "default", "labels": {"app": "odd"}}, "spec": %s}`, pods, spec)
	}
	requests := func(list string) string {
		return pod(`{"containers": [{"name": "main", "image": "example.com/main", "resources": {"limits": {` + list + `}, "requests": {` + list + `}}}]}`)
	}
	with := func(more string) string {
		return pod(`{"containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": "1"}}}], ` + more + `}`)
	}
	return []string{
		// Amounts at the limit of what can be counted, and sums beyond it.
		requests(`"cpu": "9223372036854775807", "memory": "9223372036854775807"`),
		requests(`"cpu": "9223372036854775807", "memory": "9223372036854775807"`),
		requests(`"cpu": "4611686018427387904", "memory": "4611686018427387904"`),
		requests(`"memory": "9223372036854775807Ei", "cpu": "1n"`),
		requests(`"example.com/thing": "9223372036854775807"`),
		pod(`{"containers": [{"name": "a", "image": "example.com/main", "resources": {"requests": {"memory": "9223372036854775807"}}},
			{"name": "b", "image": "example.com/main", "resources": {"requests": {"memory": "9223372036854775807"}}}]}`),
		// Constraints that contradict each other or that nothing meets.
		with(`"nodeSelector": {"kubernetes.io/arch": "amd64"}, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
			{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["amd64"]}, {"key": "x", "operator": "Gt", "values": ["99999999999999999999"]}]}, {}]}}}`),
		with(`"topologySpreadConstraints": [{"maxSkew": 2147483647, "topologyKey": "nowhere", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2147483647, "labelSelector": {"matchLabels": {"app": "odd"}}}]`),
		with(`"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "nowhere", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}}]},
			"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "odd"}}, "namespaceSelector": {}}]}}`),
		// Volumes that lead nowhere.
		`{"kind": "PersistentVolume", "metadata": {"name": "odd"}, "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "local": {"path": "/x"},
			"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "x", "operator": "Lt", "values": ["99999999999999999999"]}]}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}}}}`,
		`{"kind": "PersistentVolumeClaim", "metadata": {"name": "odd", "namespace": "default"}, "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "odd", "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}}`,
		with(`"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "odd"}}, {"name": "b", "persistentVolumeClaim": {"claimName": "none"}}]`),
		// A claim with annotations that cannot be read.
		fmt.Sprintf(`{"kind": "NodeClaim", "metadata": {"name": "odd", "labels": {"karpenter.sh/nodepool": "none"}, "annotations": {%q: "[{\"price\": 1e400}]", %q: "{", %q: "[]", %q: "NaN", %q: "7", %q: "x"}},
			"spec": {"requirements": [{"key": "x", "operator": "Exists"}],
			"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "none"}, "resources": {"requests": {"cpu": "9223372036854775807"}}}}`,
			karpv1.AnnotationLaunch, karpv1.AnnotationPlannedPods, karpv1.AnnotationDisruption, karpv1.AnnotationReservedUSD, karpv1.AnnotationNodePoolLabels, karpv1.AnnotationUndone),
		// A NodePool whose requirements no node can meet, and limits that cannot be counted.
		`{"kind": "NodePool", "metadata": {"name": "odd", "annotations": {"spokeshave.dev/launches-paused": "soon"}}, "spec": {"weight": 100, "limits": {"cpu": "9223372036854775807", "memory": "9223372036854775807Ei", "nodes": "9223372036854775807"},
			"template": {"metadata": {"labels": {"team": "a"}}, "spec": {"expireAfter": "Never", "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
			"requirements": [{"key": "team", "operator": "In", "values": ["b"]}, {"key": "node.kubernetes.io/instance-type", "operator": "NotIn", "values": ["m5.large", "m5.2xlarge"]}, {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["9223372036854775807"]}]}},
			"disruption": {"consolidateAfter": "0s", "budgets": [{"nodes": "100%"}, {"nodes": "0", "schedule": "0 0 31 2 *", "duration": "9000h"}, {"nodes": "1", "schedule": "a b c d e", "duration": "1h"}]}}}`,
		// A node that says that it is larger than any.
		`{"kind": "Node", "metadata": {"name": "odd", "labels": {"kubernetes.io/hostname": "odd"}, "annotations": {"karpenter.sh/do-not-disrupt": "1e400h"}},
			"spec": {"taints": [{"key": "mine", "effect": "NoSchedule"}]},
			"status": {"allocatable": {"cpu": "9223372036854775807", "memory": "9223372036854775807Ei", "pods": "9223372036854775807"}, "capacity": {"cpu": "9223372036854775807", "memory": "9223372036854775807Ei", "pods": "9223372036854775807"}}}`,
	}
}

// TestMalformed. Actor: a tenant, or anybody with write access to one kind of object.
// Expected: the pod of somebody else gets its node in the same round. Must not change:
// no decision fails.
func TestMalformed(t *testing.T) {
	b := newBench(t)
	pods := 1
	for _, text := range malformed() {
		b.create(t, text)
		o, err := object(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := o.(*corev1.Pod); ok {
			b.unschedulable(t, o.GetName())
			pods++
		}
	}
	b.pod(t, "good", "1500m")
	for range 2 {
		b.round(t, pods)
	}
	if b.planned(t)["good"] != "general" {
		t.Errorf("the other pod has no node: %s", b.waits("good"))
	}
	if n := b.count(t, "spokeshave_decision_failures_total"); n != 0 {
		t.Errorf("%v failures", n)
	}
}
