package ec2

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/query"
)

func TestDecode(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text, code string
		want               createFleetRequest
	}{
		"nested": {
			reason: "lists are ordered by number, not by text",
			text:   "Type=instant&LaunchTemplateConfigs.1.Overrides.10.InstanceType=b&LaunchTemplateConfigs.1.Overrides.2.InstanceType=a&LaunchTemplateConfigs.1.Overrides.2.Priority=3",
			want: createFleetRequest{Type: "instant", Configs: []fleetConfig{{Overrides: []fleetOverride{
				{InstanceType: "a", Priority: new(float64(3))}, {InstanceType: "b"},
			}}}},
		},
		"unknown":         {reason: "nothing is ignored in silence", text: "Colour=blue", code: "UnknownParameter"},
		"unknown below":   {reason: "at any depth", text: "LaunchTemplateConfigs.1.Colour=blue", code: "UnknownParameter"},
		"not a number":    {reason: "integers", text: "TargetCapacitySpecification.TotalTargetCapacity=many", code: "InvalidParameterValue"},
		"zero index":      {reason: "lists begin with 1", text: "LaunchTemplateConfigs.0.Overrides.1.InstanceType=a", code: "InvalidQueryParameter"},
		"huge index":      {reason: "nobody lists a million", text: "LaunchTemplateConfigs.1000000.Overrides.1.InstanceType=a", code: "InvalidQueryParameter"},
		"padded index":    {reason: "01 is not 1", text: "LaunchTemplateConfigs.01.Overrides.1.InstanceType=a", code: "InvalidQueryParameter"},
		"twice":           {reason: "which one?", text: "Type=instant&Type=maintain", code: "InvalidQueryParameter"},
		"empty part":      {reason: "of a name", text: "Type.=instant", code: "InvalidQueryParameter"},
		"deep":            {reason: "bounded", text: strings.Repeat("a.", 40) + "b=1", code: "InvalidQueryParameter"},
		"scalar as tree":  {reason: "Type has no members", text: "Type.1=instant", code: "InvalidQueryParameter"},
		"list as scalar":  {reason: "a list has members", text: "LaunchTemplateConfigs=x", code: "InvalidQueryParameter"},
		"struct as value": {reason: "so has a structure", text: "TargetCapacitySpecification=x", code: "InvalidQueryParameter"},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := url.ParseQuery(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			var got createFleetRequest
			f, err := query.Parse(values)
			if err == nil {
				err = query.Decode(f, &got)
			}
			switch {
			case tc.code != "":
				if err == nil || awserr.Of(err).Code != tc.code {
					t.Errorf("got %v, want %s: %s", err, tc.code, tc.reason)
				}
			case err != nil:
				t.Error(err)
			default:
				if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(fleetConfig{})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// FuzzQuery feeds the decoder any query: it may refuse, never panic, and what it
// accepts has the same fingerprint whichever way it is parsed.
func FuzzQuery(f *testing.F) {
	f.Add("Type=instant&LaunchTemplateConfigs.1.Overrides.1.InstanceType=m5.large")
	f.Add("TagSpecification.1.Tag.1.Key=a&TagSpecification.1.Tag.1.Value=b")
	f.Add("Filter.1.Name=tag:x&Filter.1.Value.1=*")
	f.Add("Tags.member.1.Key=a")
	f.Add("a.b=1&a=2&a.b.c=3")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		first, err := query.Parse(values)
		if err != nil {
			return
		}
		second, err := query.Parse(values)
		if err != nil || first.Fingerprint() != second.Fingerprint() {
			t.Fatalf("%q is not read the same twice", text)
		}
		for _, into := range []any{&createFleetRequest{}, &runRequest{}, &createTemplateRequest{}, &tagsRequest{}, &instancesRequest{}} {
			if err := query.Decode(first, into); err != nil && awserr.Of(err).Code == awserr.Internal {
				t.Errorf("%q into %T: %v", text, into, err)
			}
		}
	})
}
