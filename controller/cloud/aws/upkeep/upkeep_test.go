package upkeep_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/aws/upkeep"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

// TestUpkeep runs the parts on a real API server.
func TestUpkeep(t *testing.T) {
	cluster := apiserver.Start(t)
	mgr := cluster.Manager(t)
	learned, cloud := &lessons{}, &sweeps{}
	clock := clocktesting.NewFakeClock(time.Now())
	memory := &upkeep.Memory{Client: mgr.GetClient(), Learn: learned.learn}
	sweeper := &upkeep.Sweeper{Client: mgr.GetClient(), Cloud: cloud, Clock: clock}
	partition := &upkeep.Partition{Client: mgr.GetClient(), Get: placed}
	tags := &tagged{}
	tagger := &upkeep.Tagger{Client: mgr.GetClient(), Tag: tags.tag}
	if err := errors.Join(memory.SetupWithManager(mgr), partition.SetupWithManager(mgr), tagger.SetupWithManager(mgr), mgr.Add(sweeper)); err != nil {
		t.Fatal(err)
	}
	apiserver.Run(t, mgr)
	direct := cluster.Client(t)
	t.Run("memory", func(t *testing.T) { testMemory(t, direct, learned) })
	t.Run("sweeper", func(t *testing.T) { testSweeper(t, direct, cloud, clock) })
	t.Run("partition", func(t *testing.T) { testPartition(t, direct) })
	t.Run("tags", func(t *testing.T) { testTags(t, direct, tags) })
	t.Run("shifts", func(t *testing.T) { testShifts(t, direct) })
	t.Run("refresher", func(t *testing.T) { testRefresher(t, direct) })
}

// testMemory: the figure of an initialized node reaches the provider, that of
// one which is not ready does not.
func testMemory(t *testing.T, c client.Client, learned *lessons) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	if err := c.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	node.Status.Capacity = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("7812Mi")}
	if err := c.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	young := claim(t, c, "young", "")
	young.Status.NodeName, young.Status.ImageID = node.Name, "ami-young"
	if err := c.Status().Update(t.Context(), young); err != nil {
		t.Fatal(err)
	}
	grown := claim(t, c, "grown", "")
	grown.Status.NodeName, grown.Status.ImageID = node.Name, "ami-1"
	grown.Status.Conditions = []metav1.Condition{{
		Type: karpv1.ConditionInitialized, Status: metav1.ConditionTrue, Reason: karpv1.ConditionInitialized, LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(t.Context(), grown); err != nil {
		t.Fatal(err)
	}
	want := lesson{instanceType: "m7i.large", image: "ami-1", capacity: 7812 << 20}
	eventually.True(t, "the memory is learned", func() bool { return learned.knows(want) })
	if learned.knows(lesson{instanceType: "m7i.large", image: "ami-young", capacity: 7812 << 20}) {
		t.Error("the memory of a node that is not initialized was learned")
	}
}

// placed is EC2's answer: i-apart is in a partition, i-close in a group without.
func placed(_ context.Context, providerID string) (provider.Instance, error) {
	if strings.HasSuffix(providerID, "i-apart") {
		return provider.Instance{Labels: map[string]string{awsv1.LabelPlacementGroupPartition: "3"}}, nil
	}
	return provider.Instance{}, nil
}

// testPartition: claim and node get the partition that EC2 chose.
func testPartition(t *testing.T, c client.Client) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-apart"}}
	if err := c.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"i-close", "i-apart"} {
		in := claim(t, c, "in-"+id, "")
		in.Labels[awsv1.LabelPlacementGroupID] = "pg-01"
		if err := c.Update(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		in.Status.ProviderID = "aws:///us-west-2a/" + id
		if id == "i-apart" {
			in.Status.NodeName = node.Name
		}
		if err := c.Status().Update(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	label := func(o client.Object, name string) string {
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, o); err != nil {
			t.Fatal(err)
		}
		return o.GetLabels()[awsv1.LabelPlacementGroupPartition]
	}
	eventually.True(t, "claim and node are labelled", func() bool {
		return label(&karpv1.NodeClaim{}, "in-i-apart") == "3" && label(&corev1.Node{}, node.Name) == "3"
	})
	if got := label(&karpv1.NodeClaim{}, "in-i-close"); got != "" {
		t.Errorf("a group without partitions: label %q", got)
	}
}

// tagged is what was tagged, by provider ID; the first try of i-late fails.
type tagged struct {
	mu    sync.Mutex
	times map[string]int
}

func (g *tagged) tag(_ context.Context, providerID, claim string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.times == nil {
		g.times = map[string]int{}
	}
	g.times[claim+" "+providerID]++
	switch n := g.times[claim+" "+providerID]; {
	case claim == "late" && n == 1:
		return errors.New("no answer")
	case claim == "lost":
		return &provider.Error{Kind: provider.NotFound, Err: errors.New("no such instance")}
	}
	return nil
}

func (g *tagged) seen() map[string]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.times)
}

// testTags: the instance of a registered node is tagged, once; after a failure
// again; before it has registered, and when it is gone, it is not.
func testTags(t *testing.T, c client.Client, tags *tagged) {
	registered := func(name string, is metav1.ConditionStatus) {
		in := claim(t, c, name, "")
		in.Status.ProviderID = "aws:///us-west-2a/i-" + name
		in.Status.Conditions = []metav1.Condition{{
			Type: karpv1.ConditionRegistered, Status: is, Reason: karpv1.ConditionRegistered, LastTransitionTime: metav1.Now(),
		}}
		if err := c.Status().Update(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	registered("early", metav1.ConditionFalse)
	registered("lost", metav1.ConditionTrue)
	registered("late", metav1.ConditionTrue)
	registered("there", metav1.ConditionTrue)
	noted := func(name string) string {
		got := &karpv1.NodeClaim{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, got); err != nil {
			t.Fatal(err)
		}
		return got.Annotations[awsv1.AnnotationInstanceTagged]
	}
	eventually.True(t, "the claims say that their instances are tagged", func() bool { return noted("late") == "true" && noted("there") == "true" })
	if noted("early") != "" || noted("lost") != "" {
		t.Error("a claim whose instance was not tagged says that it was")
	}
	want := map[string]int{"late aws:///us-west-2a/i-late": 2, "there aws:///us-west-2a/i-there": 1}
	got := tags.seen()
	maps.DeleteFunc(got, func(key string, _ int) bool { return strings.HasPrefix(key, "lost ") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("how often each was tagged (-want +got):\n%s", diff)
	}
}

// testSweeper: the roles of every class and the profiles of every claim are
// spared, and a failure of one half does not keep the other.
func testSweeper(t *testing.T, c client.Client, cloud *sweeps, clock *clocktesting.FakeClock) {
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "swept"}, Spec: validSpec()}
	if err := c.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	class.Status.InstanceProfile = "profile-of-class"
	if err := c.Status().Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	claim(t, c, "launched", "profile-of-claim")
	cloud.fail(errors.New("templates: no answer"))
	want := resolve.ProfileUse{
		Roles:   map[string]bool{"KarpenterNodeRole-demo": true},
		Names:   map[string]bool{"profile-of-class": true, "profile-of-claim": true},
		Classes: map[types.UID]bool{class.UID: true},
	}
	eventually.True(t, "a sweep after half an hour, which spares what is used", func() bool {
		if clock.HasWaiters() {
			clock.Step(upkeep.SweepEvery)
		}
		return cmp.Equal(want, cloud.last())
	})
}

func claim(t *testing.T, c client.Client, name, profile string) *karpv1.NodeClaim {
	t.Helper()
	out := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelInstanceTypeStable: "m7i.large"}},
		Spec: karpv1.NodeClaimSpec{
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "default"},
			Requirements: []karpv1.Requirement{{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}}},
		},
	}
	if profile != "" {
		out.Annotations = map[string]string{awsv1.AnnotationInstanceProfile: profile}
	}
	if err := c.Create(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func validSpec() awsv1.EC2NodeClassSpec {
	discovery := map[string]string{"karpenter.sh/discovery": "demo"}
	return awsv1.EC2NodeClassSpec{
		Role:                       "KarpenterNodeRole-demo",
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: discovery}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: discovery}},
	}
}

type lesson struct {
	instanceType, image string
	capacity            int64
}

type lessons struct {
	mu  sync.Mutex
	all map[lesson]bool
}

func (l *lessons) learn(instanceType, image string, capacity int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[lesson]bool{}
	}
	l.all[lesson{instanceType, image, capacity}] = true
}

func (l *lessons) knows(one lesson) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[one]
}

// sweeps is a cloud that notes what it is told to spare.
type sweeps struct {
	mu     sync.Mutex
	err    error
	spared resolve.ProfileUse
}

func (s *sweeps) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *sweeps) last() resolve.ProfileUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spared
}

func (s *sweeps) SweepTemplates(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 0, s.err
}

func (s *sweeps) SweepProfiles(_ context.Context, use resolve.ProfileUse) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(use.Roles, "")
	delete(use.Names, "")
	s.spared = use
	return 0, nil
}

// recorded keeps events.
type recorded struct{ said []said }

type said struct{ on, kind, reason, note string }

func (r *recorded) Eventf(regarding, _ runtime.Object, kind, reason, _, note string, args ...any) {
	o, ok := regarding.(client.Object)
	if !ok {
		return
	}
	r.said = append(r.said, said{on: o.GetName(), kind: kind, reason: reason, note: fmt.Sprintf(note, args...)})
}
