package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

func TestChosenLabels(t *testing.T) {
	const tenancy, partition = awsv1.LabelInstanceTenancy, awsv1.LabelPlacementGroupPartition
	for name, c := range map[string]struct {
		reason  string
		in      []karpv1.Requirement
		want    map[string]string
		problem bool
	}{
		"nothing":         {reason: "types decide", in: []karpv1.Requirement{{Key: "kubernetes.io/arch", Operator: "In", Values: []string{"arm64"}}}},
		"both":            {reason: "shared hardware where it is allowed", in: []karpv1.Requirement{{Key: tenancy, Operator: "In", Values: []string{"dedicated", "default"}}}},
		"dedicated":       {reason: "hardware of its own", in: []karpv1.Requirement{{Key: tenancy, Operator: "In", Values: []string{"dedicated"}}}, want: map[string]string{tenancy: "dedicated"}},
		"not default":     {reason: "dedicated is what is left", in: []karpv1.Requirement{{Key: tenancy, Operator: "NotIn", Values: []string{"default"}}}, want: map[string]string{tenancy: "dedicated"}},
		"host":            {reason: "no such hardware can be had: types fail", in: []karpv1.Requirement{{Key: tenancy, Operator: "In", Values: []string{"host"}}}},
		"partition":       {reason: "one partition", in: []karpv1.Requirement{{Key: partition, Operator: "In", Values: []string{"2"}}}, want: map[string]string{partition: "2"}},
		"some partitions": {reason: "EC2 may choose another", in: []karpv1.Requirement{{Key: partition, Operator: "In", Values: []string{"1", "2"}}}, problem: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := ChosenLabels(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" || c.problem != (problem != "") {
				t.Errorf("%s: problem %q, labels (-want +got):\n%s", c.reason, problem, diff)
			}
		})
	}
}

// A NodePool of dedicated hardware plans with types that have its label; others keep theirs.
func TestDedicatedPool(t *testing.T) {
	pool := func(name string, required ...karpv1.Requirement) *karpv1.NodePool {
		out := &karpv1.NodePool{}
		out.Name = name
		out.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "default"}
		out.Spec.Template.Spec.Requirements = required
		return out
	}
	dedicated := karpv1.Requirement{Key: awsv1.LabelInstanceTenancy, Operator: "In", Values: []string{"dedicated"}}
	snapshot, _ := Build(Inputs{
		NodePools: []*karpv1.NodePool{pool("a"), pool("b", dedicated), pool("c", dedicated)},
		Catalogs:  map[string]model.Catalog{"default": {Types: []model.InstanceType{{Name: "m7i.large", Labels: map[string]string{awsv1.LabelInstanceTenancy: "default"}}}}},
	})
	var got []string
	for _, p := range snapshot.Pools {
		got = append(got, snapshot.Catalogs[p.Catalog].Types[0].Labels[awsv1.LabelInstanceTenancy])
	}
	if diff := cmp.Diff([]string{"default", "dedicated", "dedicated"}, got); diff != "" || len(snapshot.Catalogs) != 2 {
		t.Errorf("%d catalogues, want 2 of which pools b and c share one; tenancies (-want +got):\n%s", len(snapshot.Catalogs), diff)
	}
}
