package badobjects

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnserved: a pod of a scheduler that nobody runs is told so after some minutes, one
// that prefers what no instance type has gets a node without it, and so does every other.
func TestUnserved(t *testing.T) {
	b := newBench(t)
	b.create(t, `{"kind": "Pod", "metadata": {"name": "unserved", "namespace": "default"}, "spec": {"schedulerName": "nobody",
		"containers": [{"name": "main", "image": "example.com/main", "resources": {"requests": {"cpu": "500m"}}}]}}`)
	b.pod(t, "preferring", "500m", `, "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
		{"weight": 100, "preference": {"matchExpressions": [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m1000.huge"]}]}}]}}`)
	b.pod(t, "ordinary", "500m")
	b.clock.Step(6 * time.Minute)
	b.round(t, 2)
	planned := b.planned(t)
	if planned["preferring"] != "general" || planned["ordinary"] != "general" || planned["unserved"] != "" {
		t.Errorf("planned are %v, want preferring and ordinary", planned)
	}
	if why := b.waits("unserved"); !strings.Contains(why, `no scheduler of this name`) {
		t.Errorf("the pod of the scheduler that nobody runs waits because of %q", why)
	}
	events := b.told()
	if !slices.ContainsFunc(events, func(e string) bool {
		return strings.Contains(e, "FailedScheduling") && strings.Contains(e, `schedulerName "nobody"`)
	}) {
		t.Errorf("no event names the scheduler: %q", events)
	}
}
