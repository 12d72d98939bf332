package policy_test

import (
	"strings"
	"testing"

	"spokeshave.dev/simulator/iam/policy"
)

func parse(t *testing.T, texts ...string) []*policy.Document {
	t.Helper()
	var out []*policy.Document
	for _, text := range texts {
		d, err := policy.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

// TestDecide follows the rules of
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
// and of the pages about actions and resources beside it.
func TestDecide(t *testing.T) {
	const instance = "arn:aws:ec2:us-west-2:123456789012:instance/i-0123"
	allow := func(action, resource string) string {
		return `{"Version":"2012-10-17","Statement":{"Sid":"a","Effect":"Allow","Action":` + action + `,"Resource":` + resource + `}}`
	}
	deny := `{"Statement":[{"Sid":"d","Effect":"Deny","Action":"ec2:Terminate*","Resource":"*"}]}`
	for name, tc := range map[string]struct {
		reason   string
		policies []string
		action   string
		want     policy.Decision
	}{
		"no statement":         {"denied unless allowed", []string{deny}, "ec2:RunInstances", policy.Decision{}},
		"allowed":              {"by one statement", []string{allow(`"ec2:RunInstances"`, `"*"`)}, "ec2:RunInstances", policy.Decision{Allowed: true, Statement: "a"}},
		"explicit deny":        {"wins over an allow", []string{allow(`"*"`, `"*"`), deny}, "ec2:TerminateInstances", policy.Decision{Explicit: true, Statement: "d"}},
		"explicit deny first":  {"whatever the order", []string{deny, allow(`"*"`, `"*"`)}, "ec2:TerminateInstances", policy.Decision{Explicit: true, Statement: "d"}},
		"case of actions":      {"does not matter", []string{allow(`"EC2:runinstances"`, `"*"`)}, "ec2:RunInstances", policy.Decision{Allowed: true, Statement: "a"}},
		"wildcard in action":   {"* and ?", []string{allow(`["ec2:Describe*","ec2:Run?nstances"]`, `"*"`)}, "ec2:RunInstances", policy.Decision{Allowed: true, Statement: "a"}},
		"another service":      {"is another action", []string{allow(`"ec2:*"`, `"*"`)}, "iam:PassRole", policy.Decision{}},
		"resource":             {"wildcards within parts", []string{allow(`"*"`, `"arn:aws:ec2:*:*:instance/*"`)}, "ec2:RunInstances", policy.Decision{Allowed: true, Statement: "a"}},
		"other resource":       {"volumes are not instances", []string{allow(`"*"`, `"arn:aws:ec2:*:*:volume/*"`)}, "ec2:RunInstances", policy.Decision{}},
		"wildcard over a part": {"a wildcard does not reach beyond its part", []string{allow(`"*"`, `"arn:aws:ec2:*:instance/*"`)}, "ec2:RunInstances", policy.Decision{}},
		"case of resources":    {"matters", []string{allow(`"*"`, `"arn:aws:ec2:*:*:Instance/*"`)}, "ec2:RunInstances", policy.Decision{}},
		"NotAction":            {"everything else", []string{`{"Statement":{"Effect":"Allow","NotAction":"iam:*","Resource":"*"}}`}, "ec2:RunInstances", policy.Decision{Allowed: true}},
		"NotAction excluded":   {"not this", []string{`{"Statement":{"Effect":"Allow","NotAction":"ec2:*","Resource":"*"}}`}, "ec2:RunInstances", policy.Decision{}},
		"NotResource":          {"denies what is not one's own", []string{allow(`"*"`, `"*"`), `{"Statement":{"Effect":"Deny","Action":"*","NotResource":"arn:aws:ec2:us-west-2:*:*"}}`}, "ec2:RunInstances", policy.Decision{Allowed: true, Statement: "a"}},
		"variable":             {"of the request", []string{allow(`"*"`, `"arn:aws:ec2:${aws:RequestedRegion}:*:instance/*"`)}, "ec2:RunInstances", policy.Decision{Allowed: true, Statement: "a"}},
		"unknown variable":     {"matches nothing", []string{allow(`"*"`, `"arn:aws:ec2:${aws:username}:*:instance/*"`)}, "ec2:RunInstances", policy.Decision{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := policy.Decide(parse(t, tc.policies...), policy.Request{Action: tc.action, Resource: instance, Keys: policy.Keys{"aws:RequestedRegion": {"us-west-2"}}})
			if got != tc.want {
				t.Errorf("decided %+v, want %+v: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// TestConditions follows
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html (operators),
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-logic-multiple-context-keys-or-values.html (AND, OR, NOR),
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html (sets) and
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html (names of keys).
func TestConditions(t *testing.T) {
	keys := policy.Keys{
		"aws:RequestTag/team": {"web"}, "aws:ResourceTag/kubernetes.io/cluster/demo": {"owned"}, "aws:TagKeys": {"team", "Name"},
		"aws:RequestedRegion": {"us-west-2"}, "ec2:Owner": {"amazon"}, "aws:MultiFactorAuthPresent": {"false"}, "ec2:VolumeSize": {"20"},
		"ec2:InstanceProfile": {"arn:aws:iam::123456789012:instance-profile/demo"}, "empty": {}, "star": {"a*"},
	}
	for name, tc := range map[string]struct {
		reason    string
		condition string
		want      bool
	}{
		"StringEquals":                 {"the same", `{"StringEquals":{"aws:RequestTag/team":"web"}}`, true},
		"StringEquals case":            {"values differ by case", `{"StringEquals":{"aws:RequestTag/team":"Web"}}`, false},
		"StringEquals no wildcard":     {"* is a star", `{"StringEquals":{"aws:RequestTag/team":"w*"}}`, false},
		"StringEquals absent":          {"a key that is not there matches nothing", `{"StringEquals":{"aws:RequestTag/x":"web"}}`, false},
		"values are alternatives":      {"OR", `{"StringEquals":{"aws:RequestTag/team":["api","web"]}}`, true},
		"keys are all needed":          {"AND", `{"StringEquals":{"aws:RequestTag/team":"web","aws:RequestedRegion":"eu-west-1"}}`, false},
		"operators are all needed":     {"AND", `{"StringEquals":{"aws:RequestTag/team":"web"},"Null":{"aws:RequestTag/team":"true"}}`, false},
		"key case":                     {"names of keys do not differ by case", `{"StringEquals":{"AWS:requesttag/Team":"web"}}`, true},
		"EqualsIgnoreCase":             {"values do not either", `{"StringEqualsIgnoreCase":{"aws:RequestTag/team":"WEB"}}`, true},
		"StringNotEquals":              {"NOR over the values", `{"StringNotEquals":{"aws:RequestTag/team":["api","web"]}}`, false},
		"StringNotEquals other":        {"none of them", `{"StringNotEquals":{"aws:RequestTag/team":["api","db"]}}`, true},
		"StringNotEquals absent":       {"a negated operator holds without the key", `{"StringNotEquals":{"aws:RequestTag/x":"web"}}`, true},
		"StringLike":                   {"wildcards", `{"StringLike":{"aws:ResourceTag/kubernetes.io/cluster/demo":"o?n*"}}`, true},
		"StringLike star needs a key":  {"* is any value, not none", `{"StringLike":{"aws:RequestTag/x":"*"}}`, false},
		"StringLike escaped":           {"${*} is a star", `{"StringLike":{"star":"a${*}"}}`, true},
		"StringLike escaped other":     {"and nothing else", `{"StringLike":{"aws:RequestTag/team":"w${*}"}}`, false},
		"StringNotLike":                {"negated", `{"StringNotLike":{"aws:RequestTag/team":"w*"}}`, false},
		"IfExists absent":              {"holds without the key", `{"StringEqualsIfExists":{"aws:RequestTag/x":"web"}}`, true},
		"IfExists present":             {"and compares with it", `{"StringEqualsIfExists":{"aws:RequestTag/team":"api"}}`, false},
		"Null true":                    {"the key is absent", `{"Null":{"aws:RequestTag/x":"true"}}`, true},
		"Null true, present":           {"but it is there", `{"Null":{"aws:RequestTag/team":"true"}}`, false},
		"Null false":                   {"the key is present", `{"Null":{"aws:RequestTag/team":false}}`, true},
		"Null of an empty key":         {"empty counts as absent", `{"Null":{"empty":"false"}}`, false},
		"Bool":                         {"as a word", `{"Bool":{"aws:MultiFactorAuthPresent":false}}`, true},
		"ArnLike":                      {"part by part", `{"ArnLike":{"ec2:InstanceProfile":"arn:aws:iam::*:instance-profile/d*"}}`, true},
		"ArnLike across parts":         {"a wildcard stays within its part", `{"ArnLike":{"ec2:InstanceProfile":"arn:aws:iam*instance-profile/demo"}}`, false},
		"ArnNotEquals":                 {"negated", `{"ArnNotEquals":{"ec2:InstanceProfile":"arn:aws:iam::*:instance-profile/d*"}}`, false},
		"NumericLessThanEquals":        {"numbers", `{"NumericLessThanEquals":{"ec2:VolumeSize":"20"}}`, true},
		"NumericLessThan":              {"numbers, not texts", `{"NumericLessThan":{"ec2:VolumeSize":100}}`, true},
		"NumericNotEquals":             {"negated", `{"NumericNotEquals":{"ec2:VolumeSize":20}}`, false},
		"ForAllValues":                 {"every tag key is one of these", `{"ForAllValues:StringEquals":{"aws:TagKeys":["Name","team","extra"]}}`, true},
		"ForAllValues one more":        {"one is not", `{"ForAllValues:StringEquals":{"aws:TagKeys":["Name"]}}`, false},
		"ForAllValues absent":          {"holds without the key", `{"ForAllValues:StringEquals":{"aws:PrincipalTag/x":["Name"]}}`, true},
		"ForAllValues empty":           {"and with an empty one", `{"ForAllValues:StringEquals":{"empty":["Name"]}}`, true},
		"ForAllValues negated":         {"no tag key is one of these", `{"ForAllValues:StringNotEquals":{"aws:TagKeys":["team"]}}`, false},
		"ForAnyValue":                  {"one tag key is one of these", `{"ForAnyValue:StringEquals":{"aws:TagKeys":["Name","extra"]}}`, true},
		"ForAnyValue none":             {"none is", `{"ForAnyValue:StringLike":{"aws:TagKeys":["k8s*"]}}`, false},
		"ForAnyValue absent":           {"fails without the key", `{"ForAnyValue:StringEquals":{"aws:PrincipalTag/x":["Name"]}}`, false},
		"ForAnyValue negated":          {"one tag key is none of these", `{"ForAnyValue:StringNotEquals":{"aws:TagKeys":["team"]}}`, true},
		"variable in a value":          {"is the request's", `{"StringEquals":{"aws:RequestedRegion":"${aws:RequestedRegion}"}}`, true},
		"variable with a default":      {"which stands in for an absent key", `{"StringEquals":{"aws:RequestTag/team":"${aws:PrincipalTag/team, 'web'}"}}`, true},
		"variable is taken literally":  {"its star is no wildcard", `{"StringLike":{"aws:RequestTag/team":"${star}"}}`, false},
		"no condition is no condition": {"it holds", `{}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":` + tc.condition + `}}`
			got := policy.Decide(parse(t, text), policy.Request{Action: "ec2:RunInstances", Resource: "*", Keys: keys})
			if got.Allowed != tc.want {
				t.Errorf("%s allowed: %v, want %v: %s", tc.condition, got.Allowed, tc.want, tc.reason)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                "read policy",
		`{"Statement":[]}`: "no statement",
		`{"Version":"2020-01-01","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`:                                      "neither 2012-10-17",
		`{"Statement":{"Effect":"Perhaps","Action":"*","Resource":"*"}}`:                                                           "neither Allow nor Deny",
		`{"Statement":{"Effect":"Allow","Resource":"*"}}`:                                                                          "one of Action",
		`{"Statement":{"Effect":"Allow","Action":"*"}}`:                                                                            "one of Resource",
		`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"2026"}}}}`:     "DateLessThan is not evaluated",
		`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"Null":{"aws:TagKeys":"maybe"}}}}`:                "not true or false",
		`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"ForAllValues:StringSame":{"aws:TagKeys":"x"}}}}`: "StringSame is not evaluated",
	} {
		if _, err := policy.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error about %q", text, err, want)
		}
	}
}

func TestEncoded(t *testing.T) {
	r := policy.Refusal{
		Principal: "arn:aws:sts::123456789012:assumed-role/controller/x", Decision: policy.Decision{Explicit: true, Statement: "d"},
		Request: policy.Request{Action: "ec2:RunInstances", Resource: "*", Keys: policy.Keys{"aws:TagKeys": {"Name"}}},
	}
	encoded, err := r.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"allowed":false`, `"explicitDeny":true`, `"items":["d"]`, `"action":"ec2:RunInstances"`, `{"key":"aws:TagKeys","values":["Name"]}`, r.Principal} {
		if !strings.Contains(text, want) {
			t.Errorf("decoded %s, want %s in it", text, want)
		}
	}
	if !strings.Contains(r.Text(), "explicit deny") {
		t.Errorf("refused with %q", r.Text())
	}
	if _, err := policy.Decode("hello"); err == nil {
		t.Error("decoded what is no message")
	}
}
