// Package breakers plays mass deletions that nobody has asked for, on a real API server
// and a cloud in memory: an API server that was restored from an old backup, claims that
// are lost, a clock that is a month ahead, and a controller whose new version finds that
// every node has drifted. Each time nothing is deleted until somebody allows it.
package breakers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/garbage"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/instancetype"
)

const namespace = "default"

// fleet is an API server with a NodePool, and a cloud in memory.
type fleet struct {
	client client.Client
	cloud  *sim.Provider
	clock  *sim.Clock
	pool   *karpv1.NodePool
	// controller is what runs of the controller; a restart replaces it.
	controller *controller
}

// controller is the breaker of a controller and what uses it.
type controller struct {
	breaker *breaker.Breaker
	garbage *garbage.Collector
	clock   *clocktesting.FakeClock
	events  *events.FakeRecorder
}

func catalog() model.Catalog {
	c := instancetype.Catalog()
	c.Types = append(c.Types, instancetype.New("m5.large", 2000, 8, 29, instancetype.OnDemand("zone-a", 96_000)))
	return c
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return newFleetAt(t, 0)
}

// newFleetAt returns a fleet whose clock is ahead of the API server's by so much.
func newFleetAt(t *testing.T, ahead time.Duration) *fleet {
	t.Helper()
	f := &fleet{client: apiserver.Start(t).Client(t), clock: sim.NewClock(time.Now().Add(ahead)), pool: &karpv1.NodePool{}}
	var err error
	f.cloud, err = sim.New(sim.Config{Catalogs: map[string]model.Catalog{"default": catalog()}, Clock: f.clock, BootDelay: time.Second, StopDelay: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []struct {
		text string
		o    client.Object
	}{
		{`{"metadata": {"name": "default"}, "spec": {"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}],
			"subnetSelectorTerms": [{"id": "subnet-1"}], "securityGroupSelectorTerms": [{"id": "sg-1"}]}}`, &awsv1.EC2NodeClass{}},
		{`{"metadata": {"name": "general"}, "spec": {"template": {"spec": {"expireAfter": "720h",
			"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}}}}`, f.pool},
	} {
		if err := json.Unmarshal([]byte(each.text), each.o); err != nil {
			t.Fatal(err)
		}
		if err := f.client.Create(t.Context(), each.o); err != nil {
			t.Fatal(err)
		}
	}
	f.restart()
	return f
}

// restart replaces the controller by one that knows nothing.
func (f *fleet) restart() {
	clock, recorder := clocktesting.NewFakeClock(f.clock.Now()), events.NewFakeRecorder(100)
	b := &breaker.Breaker{Client: f.client, Live: f.client, Events: recorder, Namespace: namespace, Clock: clock, Percent: 10}
	f.controller = &controller{
		breaker: b, clock: clock, events: recorder,
		garbage: &garbage.Collector{Client: f.client, Live: f.client, Provider: f.cloud, Clock: clock, Breaker: b},
	}
}

// advance lets time pass.
func (f *fleet) advance(d time.Duration) {
	f.controller.clock.SetTime(f.clock.Advance(d))
}

// launch makes claims with an instance each.
func (f *fleet) launch(t *testing.T, name string, n int) []karpv1.NodeClaim {
	t.Helper()
	out := make([]karpv1.NodeClaim, 0, n)
	for i := range n {
		out = append(out, *f.launchOne(t, fmt.Sprintf("%s-%02d", name, i)))
	}
	f.advance(time.Minute)
	return out
}

func (f *fleet) launchOne(t *testing.T, name string) *karpv1.NodeClaim {
	t.Helper()
	option := model.Option{InstanceType: "m5.large", Zone: "zone-a", CapacityType: model.OnDemand, Price: 96_000, Effective: 0.096}
	attempt, err := f.cloud.Prepare(t.Context(), provider.LaunchSpec{Claim: name, NodePool: "general", NodeClass: "default", Options: []model.Option{option}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := f.cloud.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := f.pool.Hash()
	if err != nil {
		t.Fatal(err)
	}
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				karpv1.LabelNodePool: "general", corev1.LabelInstanceTypeStable: "m5.large",
				corev1.LabelTopologyZone: "zone-a", karpv1.LabelCapacityType: "on-demand",
			},
			Annotations: map[string]string{karpv1.AnnotationNodePoolHash: hash, karpv1.AnnotationNodePoolHashVersion: karpv1.NodePoolHashVersion},
		},
		Spec: karpv1.NodeClaimSpec{
			ExpireAfter:  "720h",
			Requirements: []karpv1.Requirement{{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}}},
			NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
		},
	}
	if err := f.client.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	claim.Status.ProviderID = in.ProviderID
	claim.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue, Reason: "Launched", LastTransitionTime: metav1.Now()}}
	if err := f.client.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	return claim
}

// collect makes passes of garbage collection.
func (f *fleet) collect(t *testing.T, passes int) {
	t.Helper()
	for range passes {
		f.pass(t)
		f.advance(time.Minute)
	}
}

// pass makes one pass of garbage collection.
func (f *fleet) pass(t *testing.T) {
	t.Helper()
	if err := f.controller.garbage.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// lose removes a claim from the API server as a restored backup does: its finalizer is
// not asked.
func (f *fleet) lose(t *testing.T, claims []karpv1.NodeClaim) {
	t.Helper()
	for i := range claims {
		if err := f.client.Delete(t.Context(), &claims[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// record returns the ConfigMap of the breaker.
func (f *fleet) record(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	cm := &corev1.ConfigMap{}
	if err := f.client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: breaker.Name}, cm); err != nil {
		t.Fatal(err)
	}
	return cm
}

// restore puts the ConfigMap back as it was.
func (f *fleet) restore(t *testing.T, before *corev1.ConfigMap) {
	t.Helper()
	cm := f.record(t)
	cm.Data = before.Data
	if err := f.client.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
}

// allow does what the command in the event says.
func (f *fleet) allow(t *testing.T, kind breaker.Kind) {
	t.Helper()
	cm := f.record(t)
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, breaker.Annotation(kind), f.controller.clock.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	if err := f.client.Update(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
}

// said wants an event with the texts among those sent since the last call.
func (f *fleet) said(t *testing.T, texts ...string) {
	t.Helper()
	var all []string
	for {
		select {
		case e := <-f.controller.events.Events:
			all = append(all, e)
			continue
		default:
		}
		break
	}
	for _, e := range all {
		missing := false
		for _, text := range texts {
			missing = missing || !strings.Contains(e, text)
		}
		if !missing {
			return
		}
	}
	t.Errorf("no event has %q:\n%s", texts, strings.Join(all, "\n"))
}

func (f *fleet) wantInstances(t *testing.T, reason string, want int) {
	t.Helper()
	n := 0
	for _, m := range f.machines(t.Context(), t) {
		if m.State != "shutting-down" && m.State != "terminated" {
			n++
		}
	}
	if n != want {
		t.Errorf("%s: %d instances run, want %d", reason, n, want)
	}
}

func (f *fleet) machines(ctx context.Context, t *testing.T) []provider.Instance {
	t.Helper()
	all, err := f.cloud.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
