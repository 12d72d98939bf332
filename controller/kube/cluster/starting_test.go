package cluster

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestStarting: a burst goes on while an owner has yet to create its first pod, for so long
// as one may take for that.
func TestStarting(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	store := toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)
	c := &Cluster{cfg: Config{Clock: now}, stores: stores{replicaSets: store}}
	owner := func(name string, wants, has int32) {
		rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: appsv1.ReplicaSetSpec{Replicas: &wants}}
		rs.Status.Replicas = has
		if err := store.Add(rs); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		reason string
		do     func()
		came   map[types.UID]bool
		want   bool
	}{
		{"nobody wants pods", func() { owner("old", 0, 0) }, nil, false},
		{"it has its pods", func() { owner("settled", 3, 3) }, nil, false},
		{"it has none", func() { owner("web", 3, 0) }, nil, true},
		{"its first pod has come in this batch", func() {}, map[types.UID]bool{"web": true}, false},
		{"its pods were in the last snapshot", func() { c.creating.Store(&map[types.UID]bool{"web": true}) }, nil, false},
		{"it is not known any more", func() { c.creating.Store(&map[types.UID]bool{}) }, nil, true},
		{"it has created none for too long", func() { now.Step(startingFor) }, nil, false},
		{"another one begins", func() { owner("shop", 1, 0) }, nil, true},
		{"they have pods", func() { owner("shop", 1, 1); owner("web", 3, 3) }, nil, false},
		{"it begins anew", func() { owner("web", 3, 0) }, nil, true},
	} {
		step.do()
		if got := c.Starting(step.came); got != step.want {
			t.Errorf("%s: %v", step.reason, got)
		}
	}
}
