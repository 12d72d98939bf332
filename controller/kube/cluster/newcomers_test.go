package cluster

import (
	"maps"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
)

// rollout is a cluster to whose ReplicaSets their controller comes one after the other.
type rollout struct {
	*Cluster
	t     *testing.T
	clock *clocktesting.FakeClock
	store toolscache.Store
}

func newRollout(t *testing.T) *rollout {
	clock := clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	store := toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)
	return &rollout{&Cluster{cfg: Config{Clock: clock}, stores: stores{replicaSets: store, pods: toolscache.NewStore(toolscache.MetaNamespaceKeyFunc)}}, t, clock, store}
}

// replicaSet writes a ReplicaSet that wants ten pods and has some. Its controller has come to it
// when it has.
func (r *rollout) replicaSet(name string, age time.Duration, pods int32) {
	r.t.Helper()
	ten := int32(10)
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: appsv1.ReplicaSetSpec{Replicas: &ten}}
	rs.CreationTimestamp = metav1.NewTime(r.clock.Now().Add(-age))
	if rs.Status.Replicas = pods; pods > 0 {
		rs.Status.ObservedGeneration = 1
	}
	if err := r.store.Add(rs); err != nil {
		r.t.Fatal(err)
	}
}

// podOf returns a pod that an owner controls.
func podOf(owner string) *corev1.Pod {
	yes := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: owner + "-0", OwnerReferences: []metav1.OwnerReference{{UID: types.UID(owner), Controller: &yes}}}}
}

func (r *rollout) wants(reason string, want int) {
	r.t.Helper()
	if all, _ := r.Starting(); all != want {
		r.t.Errorf("%s: %d pods are to come, want %d", reason, all, want)
	}
}

// TestStartingOneByOne: an owner to which its controller has not come is waited for while others
// begin: with their first pod, or with the status that counts it, which may be written minutes later.
func TestStartingOneByOne(t *testing.T) {
	for name, begins := range map[string]func(r *rollout, owner string) error{
		"status": func(r *rollout, owner string) error { r.replicaSet(owner, 0, 10); return nil },
		"pod":    func(r *rollout, owner string) error { return r.stores.pods.Add(podOf(owner)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRollout(t)
			begin := func(owner string) {
				t.Helper()
				if err := begins(r, owner); err != nil {
					t.Fatal(err)
				}
			}
			for _, owner := range []string{"a", "b", "c"} {
				r.replicaSet(owner, 0, 0)
			}
			r.wants("three are to begin", 30)
			r.clock.Step(100 * time.Second)
			begin("a")
			r.wants("two are left", 20)
			r.clock.Step(100 * time.Second)
			r.wants("another one began 100 s ago", 20)
			r.clock.Step(20 * time.Second)
			r.wants("nothing has happened for two minutes", 0)
			begin("b")
			r.wants("the controller goes on", 10)
		})
	}
}

// TestStartingMost: an owner that never begins is waited for ten minutes at most.
func TestStartingMost(t *testing.T) {
	r := newRollout(t)
	r.replicaSet("stuck", 0, 0)
	for range 6 {
		r.replicaSet("other", 0, 0)
		r.wants("another begins", 20)
		r.clock.Step(95 * time.Second)
		r.replicaSet("other", 0, 10)
		r.wants("the stuck one may follow", 10)
	}
	r.clock.Step(30 * time.Second)
	r.wants("it has not begun for ten minutes, although others have", 0)
}

// TestUndecided: a workload is new until a decision is made about its pods, however long its
// controller takes to come to it.
func TestUndecided(t *testing.T) {
	r := newRollout(t)
	is := func(reason string, want ...string) {
		t.Helper()
		var got []string
		for uid := range maps.Keys(r.newcomers.undecided()) {
			got = append(got, string(uid))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v are new, want %v", reason, got, want)
		}
	}
	set := func(names ...types.UID) map[types.UID]bool {
		out := map[types.UID]bool{}
		for _, name := range names {
			out[name] = true
		}
		return out
	}
	r.replicaSet("old", time.Hour, 10)
	r.replicaSet("quick", 2*time.Second, 10)
	r.replicaSet("late", 4*time.Minute, 0)
	r.replicaSet("later", 4*time.Minute, 0)
	r.Starting()
	is("the controller was quicker than anybody could look, or has not come yet", "late", "later", "quick")
	r.clock.Step(time.Minute)
	r.replicaSet("late", 5*time.Minute, 10)
	r.Starting()
	r.newcomers.decided(set("quick", "late"), set("quick", "late"))
	is("their pods wait", "late", "later", "quick")
	r.newcomers.decided(set("quick", "late"), set("quick"))
	is("one of them has been decided about", "later", "quick")
	r.newcomers.decided(set("later"), nil)
	r.Starting()
	is("another one has, and its controller goes on to create its pods", "quick")
	r.clock.Step(newMost)
	r.Starting()
	is("no pod of it was ever seen")
}
