package fleet

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/awstest"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func offlineLauncher() *Launcher {
	return New(Config{
		Cluster: "spokes", Clock: func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) },
		Shortage: &availability.Shortage{}, Templates: &launchtemplate.Templates{}, Reservations: &availability.Reservations{},
		Catalogue: &market.Catalogue{Market: &market.Market{}},
	})
}

// sharedSpec is the attempt of one launch, and its request.
func sharedSpec(t *testing.T, spec provider.LaunchSpec) (provider.Attempt, *ec2.CreateFleetInput) {
	t.Helper()
	var overrides []override
	for _, o := range leading(spec.Options) {
		image := "ami-x86"
		if strings.HasPrefix(o.InstanceType, "m7g") {
			image = "ami-arm"
		}
		overrides = append(overrides, override{Option: o, image: image, subnet: "subnet-" + o.Zone[len(o.Zone)-1:]})
	}
	want := &wanted{
		overrides: overrides, tags: sharedTags("spokes", awstest.Class(awsv1.AMIFamilyAL2023, ""), &spec),
		templates: map[string]string{"ami-x86": "karpenter.k8s.aws/ami-x86/1", "ami-arm": "karpenter.k8s.aws/ami-arm/2"},
	}
	m := &member{memberID: memberID{claim: spec.Claim, ordinal: spec.Ordinal}, want: want, request: want.key()}
	if err := shareAttempt([]*member{m}); err != nil {
		t.Fatal(err)
	}
	var sent ec2.CreateFleetInput
	if err := json.Unmarshal(m.attempt.Request, &sent); err != nil {
		t.Fatal(err)
	}
	return m.attempt, &sent
}

func TestFleetRequest(t *testing.T) {
	attempt, in := sharedSpec(t, awstest.Spec())
	awstest.Golden(t, "fleet-spot.json", awstest.Indented(t, attempt.Request))

	back, err := decode(&attempt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, back, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("the request changed on its way through JSON (-sent +read):\n%s", diff)
	}
}

func TestFleetRequestOnDemand(t *testing.T) {
	spec := awstest.Spec()
	spec.Options = spec.Options[4:]
	attempt, _ := sharedSpec(t, spec)
	awstest.Golden(t, "fleet-on-demand.json", awstest.Indented(t, attempt.Request))
}

// EC2 chooses among spot pools by price and capacity, unless a policy ranks the options: then
// by capacity, in the order of the ranking.
func TestSpotStrategy(t *testing.T) {
	priced := func(usd, effective float64) model.Option {
		return model.Option{InstanceType: "m7i.large", Zone: "us-west-2a", CapacityType: model.Spot, Price: model.PriceOf(usd), Effective: effective}
	}
	for name, c := range map[string]struct {
		reason  string
		options []model.Option
		want    types.SpotAllocationStrategy
	}{
		"prices":     {"nothing ranks but prices", []model.Option{priced(0.03, 0.03), priced(0.04, 0.04)}, types.SpotAllocationStrategyPriceCapacityOptimized},
		"one ranked": {"a policy makes an option cheaper in effect", []model.Option{priced(0.04, 0.02), priced(0.03, 0.03)}, types.SpotAllocationStrategyCapacityOptimizedPrioritized},
	} {
		t.Run(name, func(t *testing.T) {
			spec := awstest.Spec()
			spec.Options = c.options
			_, in := sharedSpec(t, spec)
			if got := in.SpotOptions.AllocationStrategy; got != c.want {
				t.Errorf("%s: %s, want %s", c.reason, got, c.want)
			}
		})
	}
}

func TestTokenFollowsFromTheRequest(t *testing.T) {
	first, _ := sharedSpec(t, awstest.Spec())
	again, _ := sharedSpec(t, awstest.Spec())
	if first.Token != again.Token || len(first.Token) > 64 {
		t.Errorf("tokens %q and %q: want one, of at most 64 characters", first.Token, again.Token)
	}
	for name, change := range map[string]func(*provider.LaunchSpec){
		"ordinal": func(s *provider.LaunchSpec) { s.Ordinal = 1 },
		"claim":   func(s *provider.LaunchSpec) { s.Claim = "other" },
		"options": func(s *provider.LaunchSpec) { s.Options = s.Options[1:] },
		"tags":    func(s *provider.LaunchSpec) { s.Tags = map[string]string{"a": "b"} },
	} {
		spec := awstest.Spec()
		change(&spec)
		if other, _ := sharedSpec(t, spec); other.Token == first.Token {
			t.Errorf("another %s and the same token", name)
		}
	}
}

func TestLeading(t *testing.T) {
	var many []model.Option
	for i := range 200 {
		many = append(many, model.Option{InstanceType: strings.Repeat("x", i+1), Zone: "a", CapacityType: model.Spot})
	}
	if got := len(leading(many)); got != maxOptions {
		t.Errorf("%d overrides, want %d", got, maxOptions)
	}
	if got := leading(awstest.Spec().Options); len(got) != 3 {
		t.Errorf("leading = %+v, want the three distinct spot options", got)
	}
}

func TestDecodeRefuses(t *testing.T) {
	good, _ := sharedSpec(t, awstest.Spec())
	for name, change := range map[string]func(*provider.Attempt){
		"not JSON":       func(a *provider.Attempt) { a.Request = []byte("{") },
		"unknown field":  func(a *provider.Attempt) { a.Request = []byte(`{"Nonsense":1}`) },
		"other token":    func(a *provider.Attempt) { a.Token = "other" },
		"several claims": func(a *provider.Attempt) { a.Claims = []string{"a", "b"} },
		"no claim":       func(a *provider.Attempt) { a.Claims = nil },
		"many instances": func(a *provider.Attempt) {
			a.Request = bytes.Replace(a.Request, []byte(`"TotalTargetCapacity":1`), []byte(`"TotalTargetCapacity":100`), 1)
		},
		"other fleet type": func(a *provider.Attempt) {
			a.Request = bytes.Replace(a.Request, []byte(`"instant"`), []byte(`"maintain"`), 1)
		},
		"no templates": func(a *provider.Attempt) {
			a.Request = []byte(`{"ClientToken":"` + a.Token + `","Type":"instant","TargetCapacitySpecification":{"TotalTargetCapacity":1}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			change(&bad)
			if in, err := decode(&bad); err == nil {
				t.Errorf("accepted: %+v", in)
			}
			_, err := offlineLauncher().Launch(t.Context(), bad)
			if provider.KindOf(err) != provider.Invalid {
				t.Errorf("Launch: %v, want Invalid", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"ClientToken":"t","Type":"instant","TargetCapacitySpecification":{"TotalTargetCapacity":1},"LaunchTemplateConfigs":[{"LaunchTemplateSpecification":{},"Overrides":[{}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := decode(&provider.Attempt{Token: "t", Claims: []string{"c"}, Request: raw})
		if err != nil {
			return
		}
		_ = offlineLauncher().refused("c", in, nil)
		_, _ = sentOverride(in, "m5.large", nil)
	})
}
