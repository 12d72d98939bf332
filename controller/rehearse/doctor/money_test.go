package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/rehearse/scenario"
)

// machine is a NodeClaim and its node of a NodePool, an m5.xlarge in us-west-2a.
func machine(name, pool string, launched time.Time) string {
	labels := fmt.Sprintf(`karpenter.sh/nodepool: %s, node.kubernetes.io/instance-type: %s, topology.kubernetes.io/zone: us-west-2a, topology.kubernetes.io/region: us-west-2,
    karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux, karpenter.sh/registered: "true", karpenter.sh/initialized: "true"`, pool, "m5.xlarge")
	const size = `{cpu: 3920m, memory: 14Gi, pods: "58"}`
	moment := launched.Format(time.RFC3339)
	conditions := ""
	for _, c := range []string{"Launched", "Registered", "Initialized", "Ready"} {
		conditions += fmt.Sprintf("{type: %s, status: 'True', reason: %s, message: '', lastTransitionTime: %q},", c, c, moment)
	}
	return fmt.Sprintf(`
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: %[1]s, creationTimestamp: %[5]q, labels: {%[2]s}}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: []}
status: {nodeName: %[1]s, providerID: "aws:///us-west-2a/i-%[1]s", capacity: %[3]s, allocatable: %[3]s, conditions: [%[4]s]}
---
apiVersion: v1
kind: Node
metadata: {name: %[1]s, creationTimestamp: %[5]q, labels: {%[2]s, kubernetes.io/hostname: %[1]s}}
spec: {providerID: "aws:///us-west-2a/i-%[1]s"}
status: {capacity: %[3]s, allocatable: %[3]s, conditions: [{type: Ready, status: "True"}]}`, name, labels, size, conditions, moment)
}

// pod is a pod of a ReplicaSet on a node, or of a Job that has ended when it has an end.
func pod(name, node, cpu string, created, end time.Time) string {
	owner, status := "ReplicaSet", `{phase: Running, conditions: [{type: Ready, status: "True"}]}`
	if !end.IsZero() {
		owner, status = "Job", fmt.Sprintf(`{phase: Succeeded, containerStatuses: [{name: c, image: i, imageID: i, ready: false, restartCount: 0, state: {terminated: {exitCode: 0, finishedAt: %q}}}]}`, end.Format(time.RFC3339))
	}
	if node == "" && end.IsZero() {
		status = `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}`
	}
	return fmt.Sprintf(`
---
apiVersion: v1
kind: Pod
metadata: {name: %[1]s, namespace: shop, creationTimestamp: %[2]q, uid: %[1]s, ownerReferences: [{apiVersion: apps/v1, kind: %[3]s, name: web, uid: u, controller: true}]}
spec: {nodeName: %[4]q, containers: [{name: c, image: i, resources: {requests: {cpu: %[5]q, memory: 1Gi}}}]}
status: %[6]s`, name, created.Format(time.RFC3339), owner, node, cpu, status)
}

func count(t *testing.T, c *Cluster, last time.Duration, most int) *Money {
	t.Helper()
	m, err := Count(t.Context(), c, CountConfig{Options: scenario.Options{Time: at, Live: true, Region: "us-west-2"}, Last: last, MostPods: most})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCount: two half-empty nodes cost more than one; what waits is counted apart.
func TestCount(t *testing.T) {
	general := nodePool("general", `requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}, {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]`, "")
	day := at.Add(-24 * time.Hour)
	c := read(t, class+general+machine("a", "general", at.Add(-2*time.Hour))+machine("b", "general", at.Add(-48*time.Hour))+
		pod("web-1", "a", "1", at.Add(-2*time.Hour), time.Time{})+pod("web-2", "b", "1", day, time.Time{})+pod("waits", "", "3", at.Add(-time.Minute), time.Time{})+
		pod("done", "gone", "1", at.Add(-5*time.Hour), at.Add(-4*time.Hour))+pod("ancient", "gone", "1", at.Add(-50*time.Hour), at.Add(-49*time.Hour)))
	c.Events = []*corev1.Event{
		{InvolvedObject: corev1.ObjectReference{Kind: "NodeClaim", Name: "gone"}},
		{InvolvedObject: corev1.ObjectReference{Kind: "NodeClaim", Name: "gone"}},
		{InvolvedObject: corev1.ObjectReference{Kind: "NodeClaim", Name: "a"}},
		{InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "away"}},
	}
	m := count(t, c, 24*time.Hour, 0)
	if m.Nodes != 2 || m.Cost < 0.3 || m.Waiting != 1 || m.Unplaced != 0 {
		t.Errorf("%d nodes for %v, %d pods wait, %d get no node; want 2 of two m5.xlarge, 1, 0", m.Nodes, m.Cost, m.Waiting, m.Unplaced)
	}
	if a := m.Anew; a == nil || a.Nodes != 1 || a.Unplaced != 0 || a.Cost > m.Cost*0.51 {
		t.Errorf("anew: %+v, of %v; want one node at half the cost", m.Anew, m.Cost)
	}
	d := m.Day
	if d.Pods != 4 || d.Ended != 1 || d.GoneNodes != 1 || d.GonePods != 1 || d.Launches == 0 || d.Here <= 0 {
		t.Errorf("the day: %+v; want 4 pods of which 1 has ended, 1 node and 1 pod that have gone", d)
	}
	if want := m.Cost/2*24 + m.Cost/2*2; d.Really < want-0.01 || d.Really > want+0.01 {
		t.Errorf("the nodes have cost %v, want %v: 24 hours of one and 2 of the other", d.Really, want)
	}
}

// TestCountBounds: what is not replayed says why, and nothing to count is no error.
func TestCountBounds(t *testing.T) {
	general := class + nodePool("general", anyNode, "")
	if m := count(t, read(t, ""), time.Hour, 0); m != nil {
		t.Errorf("without NodePools: %+v", m)
	}
	if m := count(t, read(t, general), time.Hour, 0); m.Day.Skipped == "" || m.Anew != nil || m.Nodes != 0 {
		t.Errorf("without nodes and pods: %+v, %+v", m, m.Day)
	}
	two := general + pod("a", "", "1", at, time.Time{}) + pod("b", "", "1", at.Add(-time.Minute), time.Time{})
	if m := count(t, read(t, two+pod("c", "", "1", at.Add(-time.Minute), time.Time{})), time.Hour, 1); !strings.Contains(m.Day.Skipped, "2 pods would take long") {
		t.Errorf("more pods than are replayed: %+v", m.Day)
	}
	if m := count(t, read(t, two), 0, 0); m.Day != nil || m.Launched == 0 {
		t.Errorf("without a replay: %+v", m)
	}
}

// TestCountStatic: nodes of static NodePools stay where all pods are placed anew.
func TestCountStatic(t *testing.T) {
	static := strings.Replace(nodePool("static", anyNode, ""), "spec:\n", "spec:\n  replicas: 2\n", 1)
	m := count(t, read(t, class+static+machine("a", "static", at.Add(-time.Hour))+machine("b", "static", at.Add(-time.Hour))), 0, 0)
	if m.Nodes != 2 || m.Anew == nil || m.Anew.Nodes != 2 || m.Anew.Cost != m.Cost {
		t.Errorf("%+v, anew %+v", m, m.Anew)
	}
}
