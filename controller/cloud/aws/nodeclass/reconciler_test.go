package nodeclass_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

// TestReconciler runs the reconciler on a real API server over an EC2 endpoint.
func TestReconciler(t *testing.T) {
	cluster := apiserver.Start(t)
	w := newEndpoint(t)
	looked := &looks{Cloud: w.resolver.Cloud}
	w.resolver.Cloud = looked
	w.resolver.Ages = nodeclass.NewAges(w.clock.Now, time.Minute)
	c := run(t, cluster, w)

	t.Run("a class becomes ready", func(t *testing.T) { testReady(t, c, w, looked) })
	t.Run("a changed class is resolved again", func(t *testing.T) { testChanged(t, c) })
	t.Run("a class in use waits for its claims", func(t *testing.T) { testDelete(t, c, w) })
	t.Run("claims with an old hash are stamped anew", func(t *testing.T) { testRestamp(t, c) })
}

// looks counts how often classes are resolved.
type looks struct {
	nodeclass.Cloud

	n atomic.Int32
}

// Subnets implements nodeclass.Cloud; every resolving asks for them.
func (l *looks) Subnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error) {
	l.n.Add(1)
	return l.Cloud.Subnets(ctx, terms)
}

// clusterCA stands for the CA certificate of the cluster.
const clusterCA = "Y2VydGlmaWNhdGU="

func run(t *testing.T, cluster *apiserver.Server, w *endpoint) client.Client {
	t.Helper()
	mgr := cluster.Manager(t)
	r := &nodeclass.Reconciler{
		Resolver: w.resolver, Client: mgr.GetClient(), Events: mgr.GetEventRecorder("nodeclass"), Interval: 200 * time.Millisecond, DriftCA: clusterCA,
	}
	if err := r.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	apiserver.Run(t, mgr)
	return cluster.Client(t)
}

func read(t *testing.T, c client.Client, name string) *awsv1.EC2NodeClass {
	t.Helper()
	out := &awsv1.EC2NodeClass{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func create(t *testing.T, c client.Client, name string) {
	t.Helper()
	in := class()
	in.ObjectMeta = metav1.ObjectMeta{Name: name}
	if err := c.Create(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, name+" ready", func() bool {
		return meta.IsStatusConditionTrue(read(t, c, name).Status.Conditions, awsv1.ConditionReady)
	})
}

func testReady(t *testing.T, c client.Client, w *endpoint, looked *looks) {
	create(t, c, "ready")
	got := read(t, c, "ready")
	hash, err := got.Hash(clusterCA)
	if err != nil {
		t.Fatal(err)
	}
	if got.Annotations[awsv1.AnnotationEC2NodeClassHash] != hash || got.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] == "" {
		t.Errorf("annotations %v, want the hash %s and its version", got.Annotations, hash)
	}
	if !slices.Contains(got.Finalizers, awsv1.FinalizerTermination) {
		t.Errorf("finalizers %v", got.Finalizers)
	}
	if len(got.Status.Subnets) != 3 || len(got.Status.AMIs) != 5 || got.Status.InstanceProfile == "" {
		t.Errorf("status %+v", got.Status)
	}
	// Nothing is written while nothing changes. There is no other class yet, and this
	// one is resolved in turn: when it is resolved for the third time from now, what the
	// second had to write is written.
	before, first := got.ResourceVersion, looked.n.Load()
	eventually.True(t, "the class to be resolved three times", func() bool { return looked.n.Load() >= first+3 })
	// Dry runs are off: the resolver has none.
	if n := w.server.State().Requests["RunInstances"]; len(n) != 0 {
		t.Errorf("EC2 was asked with dry runs: %v", n)
	}
	if after := read(t, c, "ready").ResourceVersion; after != before {
		t.Errorf("the class was written again, %s to %s", before, after)
	}
}

func testChanged(t *testing.T, c client.Client) {
	create(t, c, "changed")
	got := read(t, c, "changed")
	hash := got.Annotations[awsv1.AnnotationEC2NodeClassHash]
	got.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"no": "such"}}}
	got.Spec.Tags = map[string]string{"team": "shaves"}
	if err := c.Update(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "not ready", func() bool {
		return meta.IsStatusConditionFalse(read(t, c, "changed").Status.Conditions, awsv1.ConditionReady)
	})
	if now := read(t, c, "changed"); now.Annotations[awsv1.AnnotationEC2NodeClassHash] == hash || len(now.Status.Subnets) != 0 {
		t.Errorf("hash %s as before, or subnets left: %+v", hash, now.Status.Subnets)
	}
}

func testDelete(t *testing.T, c client.Client, w *endpoint) {
	create(t, c, "used")
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "used-1"},
		Spec: karpv1.NodeClaimSpec{
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "used"},
			Requirements: []karpv1.Requirement{{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"amd64"}}},
		},
	}
	if err := c.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"used", "changed"} {
		if err := c.Delete(t.Context(), read(t, c, name)); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(name string) bool {
		return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Name: name}, &awsv1.EC2NodeClass{}))
	}
	eventually.True(t, "unused class gone", func() bool { return gone("changed") })
	eventually.True(t, "event", func() bool {
		var events eventsv1.EventList
		if err := c.List(t.Context(), &events); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
			return e.Reason == awsv1.EventWaitingOnNodeClaimTermination && e.Regarding.Name == "used"
		})
	})
	if gone("used") {
		t.Fatal("a class in use was let go")
	}
	ages := prometheus.NewPedanticRegistry()
	ages.MustRegister(w.resolver.Ages)
	shown := func(name string) bool { _, ok := series(t, ages, isStale)[name+"/subnets"]; return ok }
	eventually.True(t, "no ages of classes that are gone, or wait for their claims", func() bool { return !shown("changed") && !shown("used") })
	if !shown("ready") {
		t.Error("the ages of a class that stays are gone")
	}
	if err := c.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "used class gone", func() bool { return gone("used") })
	if n := len(w.server.State().Profiles); n != 1 {
		t.Errorf("%d instance profiles, want the one that class ready needs", n)
	}
	if err := c.Delete(t.Context(), read(t, c, "ready")); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "last class gone", func() bool { return gone("ready") })
	if left := w.server.State().Profiles; len(left) != 0 {
		t.Errorf("instance profiles %q are left", left)
	}
}

// testRestamp: claims that carry a hash of another version get the current one,
// except for those that have drifted, which keep their hash and so stay drifted.
func testRestamp(t *testing.T, c client.Client) {
	create(t, c, "restamped")
	class := read(t, c, "restamped")
	current := class.Annotations[awsv1.AnnotationEC2NodeClassHash]
	claim := func(name, version string, drifted bool) {
		t.Helper()
		in := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			awsv1.AnnotationEC2NodeClassHash: "1", awsv1.AnnotationEC2NodeClassHashVersion: version,
		}}}
		in.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: class.Name}
		in.Spec.Requirements = []karpv1.Requirement{}
		if err := c.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if drifted {
			meta.SetStatusCondition(&in.Status.Conditions, metav1.Condition{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: "NodeClassDrift"})
			if err := c.Status().Update(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
	}
	claim("restamp-old", "v4", false)
	claim("restamp-drifted", "v4", true)
	claim("restamp-current", awsv1.EC2NodeClassHashVersion, false)
	before := class.DeepCopy()
	class.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] = "v4"
	class.Spec.Tags = map[string]string{"changed": "while no controller ran"} // a new generation, so that the class is looked at
	if err := c.Patch(t.Context(), class, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the class stamped anew", func() bool {
		got := read(t, c, "restamped")
		return got.Annotations[awsv1.AnnotationEC2NodeClassHashVersion] == awsv1.EC2NodeClassHashVersion && got.Annotations[awsv1.AnnotationEC2NodeClassHash] != current
	})
	now := read(t, c, "restamped").Annotations[awsv1.AnnotationEC2NodeClassHash]
	for name, want := range map[string]string{"restamp-old": now, "restamp-drifted": "1", "restamp-current": "1"} {
		var got karpv1.NodeClaim
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &got); err != nil {
			t.Fatal(err)
		}
		if h, v := got.Annotations[awsv1.AnnotationEC2NodeClassHash], got.Annotations[awsv1.AnnotationEC2NodeClassHashVersion]; h != want || v != awsv1.EC2NodeClassHashVersion {
			t.Errorf("%s: hash %s of version %s, want %s of %s", name, h, v, want, awsv1.EC2NodeClassHashVersion)
		}
	}
}
