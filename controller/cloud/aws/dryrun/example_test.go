package dryrun

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/fleet"
	"spokeshave.dev/controller/core/model"
)

// The option asked about is one that a NodePool would launch: IAM policies may forbid types
// that no pool uses.
func TestExample(t *testing.T) {
	const kind, size = "node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-cpu"
	offer := func(zone string, of model.CapacityType, usd float64) model.Offering {
		return model.Offering{Zone: zone, CapacityType: of, Price: model.PriceOf(usd), Available: true}
	}
	catalog := model.Catalog{Types: []model.InstanceType{
		{Name: "large", Labels: map[string]string{kind: "large", size: "8"}, Offerings: []model.Offering{offer("a", model.OnDemand, 0.4), offer("b", model.OnDemand, 0.3)}},
		{Name: "small", Labels: map[string]string{kind: "small", size: "2"}, Offerings: []model.Offering{offer("a", model.Spot, 0.01), offer("a", model.OnDemand, 0.1)}},
	}}
	large := model.Requirement{Key: size, Operator: model.Gt, Values: []string{"4"}}
	for name, c := range map[string]struct {
		reason string
		pools  [][]model.Requirement
		want   string
	}{
		"no pool":      {"the cheapest; spot is never asked about", nil, "small a"},
		"one pool":     {"the cheapest that it allows", [][]model.Requirement{{large}}, "large b"},
		"zone":         {"zones are those of offerings", [][]model.Requirement{{large, {Key: "topology.kubernetes.io/zone", Operator: model.In, Values: []string{"a"}}}}, "large a"},
		"two pools":    {"the cheapest of either", [][]model.Requirement{{large}, {}}, "small a"},
		"own label":    {"a label that no type has is set by the pool", [][]model.Requirement{{large, {Key: "team", Operator: model.In, Values: []string{"x"}}}}, "large b"},
		"none allowed": {"a pool that allows nothing launches nothing", [][]model.Requirement{{{Key: kind, Operator: model.In, Values: []string{"huge"}}}}, "small a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			checker := New(Config{
				Catalog: func(*awsv1.EC2NodeClass) (model.Catalog, error) { return catalog, nil },
				Example: func(_ context.Context, _ *awsv1.EC2NodeClass, o model.Option) (*fleet.Example, error) {
					got = o.InstanceType + " " + o.Zone
					return &fleet.Example{}, nil
				},
			})
			if _, err := checker.example(t.Context(), &awsv1.EC2NodeClass{}, c.pools); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
