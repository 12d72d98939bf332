package aws

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/cloud/aws/client"
)

const iamExamples = "../../../examples/iam/"

// implied are the actions that no call of ours has the name of.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-prerequisites.html
func implied() []string {
	return []string{"iam:PassRole", "iam:TagInstanceProfile"}
}

type policyDocument struct {
	Version   string
	Statement []policyStatement
}

type policyStatement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string]any
}

func (d *policyDocument) actions() []string {
	out := map[string]bool{}
	for _, s := range d.Statement {
		for _, a := range s.Action {
			out[a] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// calls are the actions of every method of the SDK interfaces.
func calls() []string {
	out := implied()
	for service := range reflect.TypeFor[client.Services]().Fields() {
		for method := range service.Type.Methods() {
			prefix := strings.ToLower(service.Name)
			if prefix == "zonalshift" {
				prefix = "arc-zonal-shift"
			}
			out = append(out, prefix+":"+method.Name)
		}
	}
	slices.Sort(out)
	return out
}

func TestPolicyAllowsExactlyWhatIsCalled(t *testing.T) {
	raw, err := os.ReadFile(iamExamples + "controller-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var forTerraform policyDocument
	if err := json.Unmarshal(raw, &forTerraform); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(calls(), forTerraform.actions()); diff != "" {
		t.Errorf("controller-policy.json (-called by the code +allowed):\n%s", diff)
	}
	raw, err = os.ReadFile(iamExamples + "cloudformation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var stack struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				PolicyDocument map[string]any
			}
		}
	}
	if err := yaml.Unmarshal(raw, &stack); err != nil {
		t.Fatal(err)
	}
	var forCloudFormation policyDocument
	for _, id := range []string{"ControllerPolicy", "InstanceProfilePolicy"} {
		text, ok := stack.Resources[id].Properties.PolicyDocument["Fn::Sub"].(string)
		if list, many := stack.Resources[id].Properties.PolicyDocument["Fn::Sub"].([]any); many {
			text, ok = list[0].(string)
		}
		if !ok {
			t.Fatalf("cloudformation.yaml has no %s", id)
		}
		same := strings.NewReplacer("${AWS::Partition}", "${partition}", "${AWS::Region}", "${region}", "${AWS::AccountId}", "${account}",
			"${ClusterName}", "${cluster}", "${NodeRoleForNodes}", "${node_role}", "${Queue}", "${queue}").Replace(text)
		var part policyDocument
		if err := json.Unmarshal([]byte(same), &part); err != nil {
			t.Fatal(err)
		}
		forCloudFormation.Version = part.Version
		forCloudFormation.Statement = append(forCloudFormation.Statement, part.Statement...)
	}
	for _, d := range []*policyDocument{&forTerraform, &forCloudFormation} {
		slices.SortFunc(d.Statement, func(a, b policyStatement) int { return strings.Compare(a.Sid, b.Sid) })
	}
	if diff := cmp.Diff(forTerraform, forCloudFormation); diff != "" {
		t.Errorf("Terraform's policy and CloudFormation's differ:\n%s", diff)
	}
}

// Every kind of event that is understood has a rule, and every rule brings events
// that are understood, in CloudFormation's stack and Terraform's alike.
func TestRulesBringExactlyWhatIsUnderstood(t *testing.T) {
	code, err := os.ReadFile("events/parse.go")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, m := range regexp.MustCompile(`case "(EC2 [^"]+)":`).FindAllStringSubmatch(string(code), -1) {
		want["aws.ec2: "+m[1]] = true
	}
	for _, m := range regexp.MustCompile(`e.Source == "([^"]+)" && e.DetailType == "([^"]+)"`).FindAllStringSubmatch(string(code), -1) {
		want[m[1]+": "+m[2]] = true
	}
	raw, err := os.ReadFile(iamExamples + "cloudformation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var stack struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				EventPattern map[string][]string
				Targets      []struct {
					Arn map[string][]string
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &stack); err != nil {
		t.Fatal(err)
	}
	forCloudFormation := map[string]bool{}
	for name, r := range stack.Resources {
		if r.Type != "AWS::Events::Rule" {
			continue
		}
		forCloudFormation[r.Properties.EventPattern["source"][0]+": "+r.Properties.EventPattern["detail-type"][0]] = true
		if to := r.Properties.Targets; len(to) != 1 || !slices.Equal(to[0].Arn["Fn::GetAtt"], []string{"InterruptionQueue", "Arn"}) {
			t.Errorf("%s has targets %v, want the queue", name, to)
		}
	}
	if diff := cmp.Diff(want, forCloudFormation); diff != "" || len(want) != 5 {
		t.Errorf("cloudformation.yaml's rules (-understood +there are):\n%s", diff)
	}
	raw, err = os.ReadFile(iamExamples + "main.tf")
	if err != nil {
		t.Fatal(err)
	}
	forTerraform := map[string]bool{}
	for _, m := range regexp.MustCompile(`source = "([^"]+)", detail_type = "([^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
		forTerraform[m[1]+": "+m[2]] = true
	}
	if diff := cmp.Diff(want, forTerraform); diff != "" {
		t.Errorf("main.tf's rules (-understood +there are):\n%s", diff)
	}
	// EventBridge may send to the queue.
	for file, parts := range map[string][]string{
		"cloudformation.yaml": {"Principal: {Service: [events.amazonaws.com, sqs.amazonaws.com]}", "Action: sqs:SendMessage"},
		"main.tf":             {`Principal = { Service = ["events.amazonaws.com", "sqs.amazonaws.com"] }`, `Action    = "sqs:SendMessage"`},
	} {
		text, err := os.ReadFile(iamExamples + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s does not say %q", file, part)
			}
		}
	}
}

// Nothing is in the SDK interfaces that the code does not call: what is allowed
// is needed.
func TestEveryCallIsMade(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "services.go" {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(raw)
	}
	for _, action := range calls() {
		if slices.Contains(implied(), action) {
			continue
		}
		_, name, _ := strings.Cut(action, ":")
		if !strings.Contains(code.String(), "."+name+"(ctx") && !strings.Contains(code.String(), ".New"+name+"Paginator(") {
			t.Errorf("%s is declared and never called", action)
		}
	}
}

// Actions on a cluster are bound to this one: EKS's by its ARN, those of zonal
// shift, which know no resources, by a condition. With an ARN as resource they
// would be denied.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonapplicationrecoverycontroller-zonalshift.html
func TestZonalShiftsOfThisClusterOnly(t *testing.T) {
	raw, err := os.ReadFile(iamExamples + "controller-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var policy policyDocument
	if err := json.Unmarshal(raw, &policy); err != nil {
		t.Fatal(err)
	}
	cluster := "arn:${partition}:eks:${region}:${account}:cluster/${cluster}"
	seen := 0
	for _, s := range policy.Statement {
		switch {
		case slices.Contains(s.Action, "eks:DescribeCluster"):
			seen++
			if diff := cmp.Diff([]string{cluster}, s.Resource); diff != "" {
				t.Errorf("%s: resources (-want +got):\n%s", s.Sid, diff)
			}
		case slices.Contains(s.Action, "arc-zonal-shift:GetManagedResource"):
			seen++
			if got := s.Condition["StringEquals"]["arc-zonal-shift:ResourceIdentifier"]; !slices.Equal(s.Resource, []string{"*"}) || got != cluster {
				t.Errorf("%s: resources %v on condition %v, want any and the cluster's ARN", s.Sid, s.Resource, got)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d statements on the cluster, want 2", seen)
	}
}

// Whatever changes something is bound to the cluster's tag.
func TestPolicyIsBoundToTheCluster(t *testing.T) {
	raw, err := os.ReadFile(iamExamples + "controller-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var policy policyDocument
	if err := json.Unmarshal(raw, &policy); err != nil {
		t.Fatal(err)
	}
	bound := 0
	for _, s := range policy.Statement {
		for _, action := range s.Action {
			_, verb, _ := strings.Cut(action, ":")
			reads := strings.HasPrefix(verb, "Describe") || strings.HasPrefix(verb, "Get") || strings.HasPrefix(verb, "List") || strings.HasPrefix(verb, "Receive")
			onQueue := strings.HasPrefix(action, "sqs:")
			if reads || onQueue || s.Sid == "LaunchFrom" || action == "iam:PassRole" {
				continue
			}
			bound++
			conditions, err := json.Marshal(s.Condition)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(conditions), "Tag/kubernetes.io/cluster/${cluster}") {
				t.Errorf("%s: %s is not bound to the cluster's tag", s.Sid, action)
			}
		}
	}
	if bound < 5 {
		t.Errorf("%d actions that change something were found, want at least 5", bound)
	}
}
