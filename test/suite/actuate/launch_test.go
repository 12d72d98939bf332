package actuate

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/actuate"
)

// creating lets a test answer the creation of claims.
type creating struct {
	client.Client
	// answer is asked before the API server, which is not asked when it returns an error.
	answer func(ctx context.Context, claim *karpv1.NodeClaim) error
}

func (c *creating) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if claim, ok := o.(*karpv1.NodeClaim); ok {
		if err := c.answer(ctx, claim); err != nil {
			return err
		}
	}
	return c.Client.Create(ctx, o, opts...)
}

// planned is a decision about n nodes, of the NodePools in turn, and those NodePools.
func planned(id string, n int, names ...string) (*model.Snapshot, map[string]*karpv1.NodePool, *decide.Decision) {
	s, pools, d := &model.Snapshot{}, map[string]*karpv1.NodePool{}, &decide.Decision{ID: id}
	for _, name := range names {
		s.Pools = append(s.Pools, model.Pool{Name: name})
		pools[name] = &karpv1.NodePool{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: "1"},
			Spec: karpv1.NodePoolSpec{Template: karpv1.NodeClaimTemplate{Spec: karpv1.NodeClaimTemplateSpec{
				Requirements: []karpv1.Requirement{{Key: "kubernetes.io/os", Operator: corev1.NodeSelectorOpIn, Values: []string{"linux"}}},
				NodeClassRef: karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"},
			}}},
		}
	}
	for i := range n {
		d.Plan.Nodes = append(d.Plan.Nodes, model.PlannedNode{
			Pool:    int32(i % len(names)),
			Options: []model.Option{{InstanceType: "m5.large", Zone: "a", CapacityType: model.OnDemand, Price: 100_000}},
		})
	}
	return s, pools, d
}

// names are those of the decision's claims of one NodePool, in the order of the plan.
func names(s *model.Snapshot, d *decide.Decision, pool int32) []string {
	var out []string
	for i := range d.Plan.Nodes {
		if d.Plan.Nodes[i].Pool == pool {
			out = append(out, model.ClaimName(s.Pools[pool].Name, d.ID, i))
		}
	}
	return out
}

// TestLaunchAtOnce: claims do not wait for each other's answers. The first three wait for one
// another here, since a NodePool might refuse all of them, and then sixteen at a time; created one after
// the other, none would be.
func TestLaunchAtOnce(t *testing.T) {
	c := connect(t)
	s, pools, d := planned("once", 3+16+16, "general")
	m := &meeting{rounds: []int{3, 16, 16}}
	meet := func(ctx context.Context, _ *karpv1.NodeClaim) error { return m.meet(ctx) }
	a := &actuate.Actuator{Client: &creating{Client: c, answer: meet}, Reporter: &actuate.Reporter{Client: c}}
	done, err := a.Launch(t.Context(), s, pools, d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names(s, d, 0), done.Claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

// TestLaunchRefused: of a NodePool whose claims are refused three are tried, however many may be
// created at the same time, and those of others are created.
func TestLaunchRefused(t *testing.T) {
	c := connect(t)
	s, pools, d := planned("refused", 80, "refused", "accepted")
	refuse := func(_ context.Context, claim *karpv1.NodeClaim) error {
		if claim.Labels[karpv1.LabelNodePool] == "refused" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "nodeclaims"}, claim.Name, errors.New("no more of these"))
		}
		return nil
	}
	a := &actuate.Actuator{Client: &creating{Client: c, answer: refuse}, Reporter: &actuate.Reporter{Client: c}}
	done, err := a.Launch(t.Context(), s, pools, d)
	refused, rest := actuate.Refusals(err)
	if rest != nil {
		t.Fatal(rest)
	}
	var got []string
	for _, r := range refused {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff(names(s, d, 0)[:3], got); diff != "" {
		t.Errorf("refused claims (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(names(s, d, 1), done.Claims); diff != "" {
		t.Errorf("created claims (-want +got):\n%s", diff)
	}
}

// TestLaunchBroken: when the API server cannot be asked any more, the claims that it has
// created are known, whatever happened to those before them.
func TestLaunchBroken(t *testing.T) {
	c := connect(t)
	s, pools, d := planned("broken", 60, "general")
	lost := names(s, d, 0)[10]
	fail := func(_ context.Context, claim *karpv1.NodeClaim) error {
		if claim.Name == lost {
			return fmt.Errorf("connect: %w", context.DeadlineExceeded)
		}
		return nil
	}
	a := &actuate.Actuator{Client: &creating{Client: c, answer: fail}, Reporter: &actuate.Reporter{Client: c}}
	done, err := a.Launch(t.Context(), s, pools, d)
	if _, rest := actuate.Refusals(err); !errors.Is(rest, context.DeadlineExceeded) {
		t.Fatalf("the error is %v, want that of the connection", err)
	}
	var list karpv1.NodeClaimList
	if err := c.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range done.Claims {
		known[name] = true
	}
	for i := range list.Items {
		if !known[list.Items[i].Name] {
			t.Errorf("claim %s was created, and the decision does not say so", list.Items[i].Name)
		}
	}
	if len(list.Items) != len(done.Claims) || len(list.Items) == len(d.Plan.Nodes) {
		t.Errorf("%d claims exist, %d are known, %d were planned", len(list.Items), len(done.Claims), len(d.Plan.Nodes))
	}
}
