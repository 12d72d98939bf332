package aws

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func offlineProvider() *Provider {
	return &Provider{
		cfg:    Config{ClusterName: "spokes", Clock: func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }},
		region: "us-west-2", shortage: shortage{until: map[offering]time.Time{}}, templates: map[string]time.Time{},
	}
}

func indented(t *testing.T, raw []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

func sealedSpec(t *testing.T, spec provider.LaunchSpec) (provider.Attempt, *ec2.CreateFleetInput) {
	t.Helper()
	var overrides []override
	for _, o := range leading(spec.Options) {
		image := "ami-x86"
		if strings.HasPrefix(o.InstanceType, "m7g") {
			image = "ami-arm"
		}
		overrides = append(overrides, override{Option: o, image: image, subnet: "subnet-" + o.Zone[len(o.Zone)-1:]})
	}
	templates := map[string]string{"ami-x86": "karpenter.k8s.aws/ami-x86/1", "ami-arm": "karpenter.k8s.aws/ami-arm/2"}
	in := fleetRequest(overrides, templates, ec2Tags(offlineProvider().sharedTags(testClass(awsv1.AMIFamilyAL2023, ""), &spec)))
	body, err := encode(in)
	if err != nil {
		t.Fatal(err)
	}
	m := member{group: string(body), claim: spec.Claim, ordinal: spec.Ordinal}
	attempts, err := sealed([]member{m})
	if err != nil {
		t.Fatal(err)
	}
	var sent ec2.CreateFleetInput
	if err := json.Unmarshal(attempts[m].value.Request, &sent); err != nil {
		t.Fatal(err)
	}
	return attempts[m].value, &sent
}

func TestFleetRequest(t *testing.T) {
	attempt, in := sealedSpec(t, testSpec())
	golden(t, "fleet-spot.json", indented(t, attempt.Request))

	back, err := decodeRequest(&attempt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, back, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("the request changed on its way through JSON (-sent +read):\n%s", diff)
	}
}

func TestFleetRequestOnDemand(t *testing.T) {
	spec := testSpec()
	spec.Options = spec.Options[4:]
	attempt, _ := sealedSpec(t, spec)
	golden(t, "fleet-on-demand.json", indented(t, attempt.Request))
}

func TestTokenFollowsFromTheRequest(t *testing.T) {
	first, _ := sealedSpec(t, testSpec())
	again, _ := sealedSpec(t, testSpec())
	if first.Token != again.Token || len(first.Token) > 64 {
		t.Errorf("tokens %q and %q: want one, of at most 64 characters", first.Token, again.Token)
	}
	for name, change := range map[string]func(*provider.LaunchSpec){
		"ordinal": func(s *provider.LaunchSpec) { s.Ordinal = 1 },
		"claim":   func(s *provider.LaunchSpec) { s.Claim = "other" },
		"options": func(s *provider.LaunchSpec) { s.Options = s.Options[1:] },
		"tags":    func(s *provider.LaunchSpec) { s.Tags = map[string]string{"a": "b"} },
	} {
		spec := testSpec()
		change(&spec)
		if other, _ := sealedSpec(t, spec); other.Token == first.Token {
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
	if got := leading(testSpec().Options); len(got) != 3 {
		t.Errorf("leading = %+v, want the three distinct spot options", got)
	}
}

func TestDecodeRequestRefuses(t *testing.T) {
	good, _ := sealedSpec(t, testSpec())
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
			if in, err := decodeRequest(&bad); err == nil {
				t.Errorf("accepted: %+v", in)
			}
			_, err := offlineProvider().Launch(t.Context(), bad)
			if provider.KindOf(err) != provider.Invalid {
				t.Errorf("Launch: %v, want Invalid", err)
			}
		})
	}
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"ClientToken":"t","Type":"instant","TargetCapacitySpecification":{"TotalTargetCapacity":1},"LaunchTemplateConfigs":[{"LaunchTemplateSpecification":{},"Overrides":[{}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := decodeRequest(&provider.Attempt{Token: "t", Claims: []string{"c"}, Request: raw})
		if err != nil {
			return
		}
		_ = offlineProvider().refused("c", in, nil)
		_, _ = sentOverride(in, "m5.large", nil)
	})
}

func TestTemplateData(t *testing.T) {
	class := testClass(awsv1.AMIFamilyAL2023, "")
	plain, err := encode(offlineProvider().templateData(class, boot{image: "ami-1", data: "data"}))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "template.json", indented(t, plain))

	class.Spec.AssociatePublicIPAddress = sdk.Bool(false)
	class.Spec.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: sdk.Int32(30)}
	class.Spec.IPPrefixCount = sdk.Int32(2)
	class.Spec.DetailedMonitoring = sdk.Bool(true)
	class.Spec.AMIFamily = sdk.String(awsv1.AMIFamilyBottlerocket)
	full, err := encode(offlineProvider().templateData(class, boot{image: "ami-1"}))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "template-interfaces.json", indented(t, full))
}
