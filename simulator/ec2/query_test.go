package sim

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, query, code string
		want                createFleetRequest
	}{
		"nested": {
			reason: "lists are ordered by number, not by text",
			query:  "Type=instant&LaunchTemplateConfigs.1.Overrides.10.InstanceType=b&LaunchTemplateConfigs.1.Overrides.2.InstanceType=a&LaunchTemplateConfigs.1.Overrides.2.Priority=3",
			want: createFleetRequest{Type: "instant", Configs: []fleetConfig{{Overrides: []fleetOverride{
				{InstanceType: "a", Priority: new(float64(3))}, {InstanceType: "b"},
			}}}},
		},
		"unknown":         {reason: "nothing is ignored in silence", query: "Colour=blue", code: "UnknownParameter"},
		"unknown below":   {reason: "at any depth", query: "LaunchTemplateConfigs.1.Colour=blue", code: "UnknownParameter"},
		"not a number":    {reason: "integers", query: "TargetCapacitySpecification.TotalTargetCapacity=many", code: "InvalidParameterValue"},
		"zero index":      {reason: "lists begin with 1", query: "LaunchTemplateConfigs.0.Overrides.1.InstanceType=a", code: "InvalidQueryParameter"},
		"huge index":      {reason: "nobody lists a million", query: "LaunchTemplateConfigs.1000000.Overrides.1.InstanceType=a", code: "InvalidQueryParameter"},
		"padded index":    {reason: "01 is not 1", query: "LaunchTemplateConfigs.01.Overrides.1.InstanceType=a", code: "InvalidQueryParameter"},
		"twice":           {reason: "which one?", query: "Type=instant&Type=maintain", code: "InvalidQueryParameter"},
		"empty part":      {reason: "of a name", query: "Type.=instant", code: "InvalidQueryParameter"},
		"deep":            {reason: "bounded", query: strings.Repeat("a.", 40) + "b=1", code: "InvalidQueryParameter"},
		"scalar as tree":  {reason: "Type has no members", query: "Type.1=instant", code: "InvalidQueryParameter"},
		"list as scalar":  {reason: "a list has members", query: "LaunchTemplateConfigs=x", code: "InvalidQueryParameter"},
		"struct as value": {reason: "so has a structure", query: "TargetCapacitySpecification=x", code: "InvalidQueryParameter"},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := url.ParseQuery(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got createFleetRequest
			f, err := parseForm(values)
			if err == nil {
				err = decode(f, &got)
			}
			switch {
			case tc.code != "":
				if err == nil || failureOf(err).Code != tc.code {
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

func TestWildcard(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"?", "", false},
		{"a?", "ab", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{`a\?*`, "a?b", true},
		{"*a*b*", "xaybz", true},
		{"*.large", "m5.xlarge", false},
		{"**", "x", true},
	} {
		if got := wildcard(tc.pattern, tc.text); got != tc.want {
			t.Errorf("wildcard(%q, %q) = %v", tc.pattern, tc.text, got)
		}
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
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		first, err := parseForm(values)
		if err != nil {
			return
		}
		second, err := parseForm(values)
		if err != nil || first.fingerprint() != second.fingerprint() {
			t.Fatalf("%q is not read the same twice", query)
		}
		for _, into := range []any{&createFleetRequest{}, &runRequest{}, &createTemplateRequest{}, &tagsRequest{}, &describeInstances{}, &createProfileRequest{}} {
			if err := decode(first, into); err != nil && failureOf(err).Code == codeInternal {
				t.Errorf("%q into %T: %v", query, into, err)
			}
		}
	})
}
