package nodeclass_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	sim "spokeshave.dev/simulator"
)

// series are the values of one of the metrics of ages, by "class/part".
func series(t *testing.T, from prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			out[m.GetLabel()[0].GetValue()+"/"+m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return out
}

const (
	readAt  = "spokeshave_aws_class_updated_timestamp_seconds"
	isStale = "spokeshave_aws_class_stale"
)

// TestAges: each part of a class shows when AWS answered last. It stands still while AWS does
// not answer, or refuses to, and is stale after ten minutes; that nothing is found is an
// answer.
func TestAges(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		change func(*awsv1.EC2NodeClass)
		fault  sim.Fault
		// parts are those that have an age, and silent the ones without an answer.
		parts, silent []string
	}{
		"all answer": {"nothing fails", nil, sim.Fault{}, []string{"subnets", "security groups", "images", "instance profile"}, nil},
		"subnets":    {"EC2 is down", nil, sim.Fault{Action: "DescribeSubnets", HTTPStatus: 503}, []string{"subnets", "security groups", "images", "instance profile"}, []string{"subnets"}},
		"security groups": {
			"one that may not ask hears nothing", nil,
			sim.Fault{Action: "DescribeSecurityGroups", Code: "UnauthorizedOperation"},
			[]string{"subnets", "security groups", "images", "instance profile"},
			[]string{"security groups"},
		},
		"images": {"EC2 throttles", nil, sim.Fault{Action: "DescribeImages", Code: "RequestLimitExceeded", HTTPStatus: 503}, []string{"subnets", "security groups", "images", "instance profile"}, []string{"images"}},
		"instance profile": {
			"it was found a quarter of an hour ago, so that IAM is asked again", nil,
			sim.Fault{Action: "GetInstanceProfile", HTTPStatus: 500},
			[]string{"subnets", "security groups", "images", "instance profile"},
			[]string{"instance profile"},
		},
		"own instance profile": {
			"IAM is not asked about it",
			func(c *awsv1.EC2NodeClass) { c.Spec.Role, c.Spec.InstanceProfile = "", sdk.String("own") },
			sim.Fault{},
			[]string{"subnets", "security groups", "images"},
			nil,
		},
		"placement group": {
			"EC2 is asked about the group that the class names",
			func(c *awsv1.EC2NodeClass) {
				c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: sdk.String("nodes")}
			},
			sim.Fault{Action: "DescribePlacementGroups", HTTPStatus: 500},
			[]string{"subnets", "security groups", "images", "instance profile", "placement group"},
			[]string{"placement group"},
		},
		"capacity reservations": {
			"EC2 is asked about those that the class selects",
			func(c *awsv1.EC2NodeClass) {
				c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "shaves"}}}
			},
			sim.Fault{Action: "DescribeCapacityReservations", HTTPStatus: 500},
			[]string{"subnets", "security groups", "images", "instance profile", "capacity reservations"},
			[]string{"capacity reservations"},
		},
		"nothing found": {
			"that there is no such subnet is an answer",
			func(c *awsv1.EC2NodeClass) {
				c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"no": "such"}}}
			},
			sim.Fault{},
			[]string{"subnets", "security groups", "images", "instance profile"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t)
			registry := prometheus.NewPedanticRegistry()
			w.resolver.Ages = nodeclass.NewAges(w.clock.Now, time.Minute)
			registry.MustRegister(w.resolver.Ages)
			class := class()
			if c.change != nil {
				c.change(class)
			}
			first := w.clock.Now()
			class.Status = w.resolve(t, class)
			w.clock.Step(16 * time.Minute) // IAM's answer counts for a quarter of an hour
			if c.fault.Action != "" {
				c.fault.Forever = true
				if _, err := w.server.Order(c.fault); err != nil {
					t.Fatal(err)
				}
			}
			last := w.clock.Now()
			_, _ = w.resolver.Resolve(t.Context(), class) // what it says is shown by other tests
			read, stale := map[string]float64{}, map[string]float64{}
			for _, part := range c.parts {
				read["default/"+part], stale["default/"+part] = float64(last.Unix()), 0
			}
			for _, part := range c.silent {
				read["default/"+part], stale["default/"+part] = float64(first.Unix()), 1
			}
			if diff := cmp.Diff(read, series(t, registry, readAt)); diff != "" {
				t.Errorf("%s: last read (-want +got):\n%s", c.reason, diff)
			}
			if diff := cmp.Diff(stale, series(t, registry, isStale)); diff != "" {
				t.Errorf("%s: stale (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// TestNeverReadIsStale: a part that AWS never told counts from when it was asked for first. A
// part that the class does not name any more is gone.
func TestNeverReadIsStale(t *testing.T) {
	w := newEndpoint(t)
	registry := prometheus.NewPedanticRegistry()
	w.resolver.Ages = nodeclass.NewAges(w.clock.Now, 6*time.Minute)
	registry.MustRegister(w.resolver.Ages)
	class := class()
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: sdk.String("nodes")}
	if _, err := w.server.Order(sim.Fault{Action: "DescribePlacementGroups", HTTPStatus: 500, Forever: true}); err != nil {
		t.Fatal(err)
	}
	const part = "default/placement group"
	for _, step := range []struct {
		after time.Duration
		stale float64
	}{{0, 0}, {11 * time.Minute, 0}, {time.Minute, 1}} {
		w.clock.Step(step.after)
		if _, err := w.resolver.Resolve(t.Context(), class); err == nil {
			t.Fatal("no error while EC2 does not answer")
		}
		if got := series(t, registry, isStale)[part]; got != step.stale {
			t.Errorf("another %s later stale is %v, want %v: twice the interval is twelve minutes", step.after, got, step.stale)
		}
		if at, shown := series(t, registry, readAt)[part]; at != 0 || !shown {
			t.Errorf("read at %v (shown: %t), want 0: never", at, shown)
		}
	}
	class.Spec.PlacementGroupSelector = nil
	w.resolve(t, class)
	if got, shown := series(t, registry, isStale)[part]; shown {
		t.Errorf("the class names no group, and its metric is %v", got)
	}
}
