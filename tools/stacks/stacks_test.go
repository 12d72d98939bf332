package stacks

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
)

const (
	examples = "../../examples/iam"
	account  = "111122223333"
)

// stack is what a template makes.
type stack struct {
	// names are the names of what is made, by resource. A resource that is not made has none.
	names   map[string][]string
	outputs map[string]string
	policy  []statement // the controller's
}

// statement is a statement of an IAM policy.
type statement struct {
	Sid              string
	Action, Resource []string
}

// statements returns the statements of a policy; none of one that cannot be read.
func statements(raw []byte) []statement {
	var document struct{ Statement []statement }
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil
	}
	return document.Statement
}

// made returns the names of all that is made, in order.
func (s stack) made() []string {
	out := []string{}
	for _, names := range s.names {
		out = append(out, names...)
	}
	slices.Sort(out)
	return out
}

// resources returns the resources of the statement.
func (s stack) resources(sid string) []string {
	for _, p := range s.policy {
		if p.Sid == sid {
			return p.Resource
		}
	}
	return nil
}

func TestWhatExistsIsNotMade(t *testing.T) {
	const role = "arn:aws:iam::111122223333:role/KarpenterNodeRole-demo"
	own := []string{"GiveNodesTheirRole", "KeepInstanceProfiles", "ListInstanceProfiles", "MakeInstanceProfiles", "ReadInterruptions", "SeeInstanceProfiles"}
	cases := map[string]struct {
		reason         string
		parameters     map[string]string
		variables      map[string]cty.Value
		cloudFormation []string // names of what CloudFormation makes
		terraform      []string // names of what Terraform makes
		statements     []string // of those that depend on parameters
		role, queue    string   // what the policy lets the controller pass and read
	}{
		"fresh": {
			reason: "everything is made, under names that Karpenter does not use",
			cloudFormation: []string{
				"CapacityReservationRule", "InterruptionQueuePolicy", "RebalanceRule", "ScheduledChangeRule", "SpokeshaveController-demo",
				"SpokeshaveController-demo", "Spokeshave-demo", "SpokeshaveInstanceProfiles-demo", "SpokeshaveNode-demo", "SpotInterruptionRule", "StateChangeRule",
			},
			terraform: []string{
				"Spokeshave-demo", "Spokeshave-demo-capacityreservation", "Spokeshave-demo-rebalance", "Spokeshave-demo-scheduledchange",
				"Spokeshave-demo-spotinterruption", "Spokeshave-demo-statechange", "SpokeshaveController-demo", "SpokeshaveController-demo", "SpokeshaveNode-demo",
				"aws_cloudwatch_event_target.interruption", "aws_cloudwatch_event_target.interruption", "aws_cloudwatch_event_target.interruption",
				"aws_cloudwatch_event_target.interruption", "aws_cloudwatch_event_target.interruption", "aws_iam_role_policy_attachment.controller",
				"aws_iam_role_policy_attachment.node", "aws_iam_role_policy_attachment.node", "aws_iam_role_policy_attachment.node",
				"aws_iam_role_policy_attachment.node", "aws_sqs_queue_policy.interruption",
			},
			statements: own, queue: "Spokeshave-demo",
		},
		"after Karpenter": {
			reason:     "Karpenter's roles, queue and rules go on being used",
			parameters: map[string]string{"NodeRoleArn": role, "ControllerRoleName": "KarpenterControllerRole-demo", "InterruptionQueueName": "demo"},
			variables: map[string]cty.Value{
				"node_role_arn": cty.StringVal(role), "controller_role_name": cty.StringVal("KarpenterControllerRole-demo"), "interruption_queue_name": cty.StringVal("demo"),
			},
			cloudFormation: []string{"SpokeshaveController-demo", "SpokeshaveInstanceProfiles-demo"},
			terraform:      []string{"SpokeshaveController-demo", "aws_iam_role_policy_attachment.controller"},
			statements:     own, role: role, queue: "demo",
		},
		"own instance profiles": {
			reason:     "the controller may not change any instance profile",
			parameters: map[string]string{"NodeRoleArn": role, "InterruptionQueueName": "demo", "InstanceProfiles": "Existing"},
			variables: map[string]cty.Value{
				"node_role_arn": cty.StringVal(role), "interruption_queue_name": cty.StringVal("demo"), "manage_instance_profiles": cty.False,
			},
			cloudFormation: []string{"SpokeshaveController-demo", "SpokeshaveController-demo"},
			terraform:      []string{"SpokeshaveController-demo", "SpokeshaveController-demo", "aws_iam_role_policy_attachment.controller"},
			statements:     []string{"GiveNodesTheirRole", "ReadInterruptions"}, role: role, queue: "demo",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			parameters, variables := map[string]string{"ClusterName": "demo"}, map[string]cty.Value{"cluster_name": cty.StringVal("demo")}
			maps.Copy(parameters, tc.parameters)
			maps.Copy(variables, tc.variables)
			for tool, s := range map[string]stack{"CloudFormation": cloudFormation(t, parameters), "Terraform": terraform(t, variables)} {
				want := tc.terraform
				if tool == "CloudFormation" {
					want = slices.Sorted(slices.Values(tc.cloudFormation))
				}
				if diff := cmp.Diff(want, s.made()); diff != "" {
					t.Errorf("%s: %s makes (-want +got):\n%s", tc.reason, tool, diff)
				}
				dependent := []string{}
				for _, p := range s.policy {
					if slices.Contains(own, p.Sid) {
						dependent = append(dependent, p.Sid)
					}
				}
				slices.Sort(dependent)
				if diff := cmp.Diff(tc.statements, dependent); diff != "" {
					t.Errorf("%s: statements of %s (-want +got):\n%s", tc.reason, tool, diff)
				}
				if got := s.resources("GiveNodesTheirRole"); tc.role != "" && !slices.Equal(got, []string{tc.role}) {
					t.Errorf("%s: %s lets the controller pass %v, want %s", tc.reason, tool, got, tc.role)
				}
				if got := s.resources("ReadInterruptions"); len(got) != 1 || !strings.HasSuffix(got[0], ":"+account+":"+tc.queue) {
					t.Errorf("%s: %s lets the controller read %v, want queue %s", tc.reason, tool, got, tc.queue)
				}
			}
		})
	}
}

// What people type next is in the outputs, whether it was made or named.
func TestOutputs(t *testing.T) {
	const role = "arn:aws:iam::111122223333:role/KarpenterNodeRole-demo"
	c := cloudFormation(t, map[string]string{"ClusterName": "demo", "NodeRoleArn": role, "ControllerRoleName": "karpenter", "InterruptionQueueName": "demo"})
	want := map[string]string{
		"ControllerRoleArn": "arn:aws:iam::111122223333:role/karpenter", "NodeRoleName": "KarpenterNodeRole-demo", "InterruptionQueueName": "demo",
	}
	if diff := cmp.Diff(want, c.outputs); diff != "" {
		t.Errorf("CloudFormation's outputs (-want +got):\n%s", diff)
	}
	m := terraform(t, map[string]cty.Value{
		"cluster_name": cty.StringVal("demo"), "node_role_arn": cty.StringVal(role), "controller_role_name": cty.StringVal("karpenter"), "interruption_queue_name": cty.StringVal("demo"),
	})
	want = map[string]string{"controller_role_name": "karpenter", "node_role_name": "KarpenterNodeRole-demo", "interruption_queue_name": "demo"}
	if diff := cmp.Diff(want, m.outputs); diff != "" {
		t.Errorf("Terraform's outputs (-want +got):\n%s", diff)
	}
}
