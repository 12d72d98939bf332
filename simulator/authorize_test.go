package simulator_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	endpoint "spokeshave.dev/test/kit/ec2"
)

func tagsOf(kind ec2types.ResourceType, pairs ...string) []ec2types.TagSpecification {
	out := ec2types.TagSpecification{ResourceType: kind}
	for i := 0; i < len(pairs); i += 2 {
		out.Tags = append(out.Tags, ec2types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return []ec2types.TagSpecification{out}
}

// TestPolicyRefuses asks for what a scoped policy does not allow.
func TestPolicyRefuses(t *testing.T) {
	const cluster, class = "kubernetes.io/cluster/mig", "karpenter.k8s.aws/ec2nodeclass"
	for name, tc := range map[string]struct {
		reason string
		ask    func(*testing.T, *testEndpoint, *testEndpoint) error
		code   string
		says   string
	}{
		"template without tags": {
			reason: "what is created has to be tagged", code: "UnauthorizedOperation", says: "ec2:CreateLaunchTemplate on resource: arn:aws:ec2:us-west-2:123456789012:launch-template/*",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("one"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: aws.String("ami-00000000")}})
				return err
			},
		},
		"template with tags": {
			reason: "as the policy wants them",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
					LaunchTemplateName: aws.String("one"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: aws.String("ami-00000000")},
					TagSpecifications: tagsOf("launch-template", cluster, "owned", class, "a", "eks:eks-cluster-name", "mig"),
				})
				return err
			},
		},
		"dry run": {
			reason: "a dry run tells that it is not allowed", code: "UnauthorizedOperation", says: "ec2:CreateLaunchTemplate",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("one"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: aws.String("ami-00000000")}, DryRun: aws.Bool(true)})
				return err
			},
		},
		"fleet from another's template": {
			reason: "resource tags of what is used", code: "UnauthorizedOperation", says: ":launch-template/lt-",
			ask: func(t *testing.T, w, root *testEndpoint) error {
				in := fleet(root.template(t, "theirs"), onDemand, override("m5.large", "us-west-2a", 0))
				in.TagSpecifications = nil
				for _, kind := range []ec2types.ResourceType{"fleet", "instance", "volume", "network-interface"} {
					in.TagSpecifications = append(in.TagSpecifications, tagsOf(kind, cluster, "owned", class, "a", "eks:eks-cluster-name", "mig")...)
				}
				_, err := w.ec2.CreateFleet(t.Context(), in)
				return err
			},
		},
		"another's instance": {
			reason: "it lacks the cluster's tag", code: "UnauthorizedOperation", says: "ec2:TerminateInstances",
			ask: func(t *testing.T, w, root *testEndpoint) error {
				_, err := w.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{root.run(t)}})
				return err
			},
		},
		"own instance": {
			reason: "it has the tag",
			ask: func(t *testing.T, w, root *testEndpoint) error {
				_, err := w.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{root.run(t, cluster, "owned")}})
				return err
			},
		},
		"another tag key": {
			reason: "all keys have to be among those listed", code: "UnauthorizedOperation", says: "ec2:CreateTags",
			ask: func(t *testing.T, w, root *testEndpoint) error {
				_, err := w.ec2.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{root.run(t, cluster, "owned")}, Tags: tagsOf("", "Name", "x", "team", "y")[0].Tags})
				return err
			},
		},
		"listed tag key": {
			reason: "Name is listed",
			ask: func(t *testing.T, w, root *testEndpoint) error {
				_, err := w.ec2.CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{root.run(t, cluster, "owned")}, Tags: tagsOf("", "Name", "x")[0].Tags})
				return err
			},
		},
		"profile of another region": {
			reason: "the tag says eu-west-1", code: "AccessDenied", says: "iam:CreateInstanceProfile",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := iam.NewFromConfig(w.cfg).CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{
					InstanceProfileName: aws.String("x"),
					Tags:                []iamtypes.Tag{{Key: aws.String(cluster), Value: aws.String("owned")}, {Key: aws.String("topology.kubernetes.io/region"), Value: aws.String("eu-west-1")}},
				})
				return err
			},
		},
		"private parameter": {
			reason: "only AWS's own", code: "AccessDeniedException", says: "arn:aws:ssm:us-west-2:123456789012:parameter/x",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := ssm.NewFromConfig(w.cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/x")})
				return err
			},
		},
		"sending": {
			reason: "only reading", code: "AccessDeniedException", says: "sqs:SendMessage on resource: arn:aws:sqs:us-west-2:123456789012:mig",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := sqs.NewFromConfig(w.cfg).SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(w.url + "/123456789012/mig"), MessageBody: aws.String("x")})
				return err
			},
		},
		"identity": {
			reason: "nobody has to be allowed to ask who he is",
			ask: func(t *testing.T, w, _ *testEndpoint) error {
				_, err := sts.NewFromConfig(w.cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t, func(c *simulator.Config) {
				c.Cluster, c.Policies = "mig", []*policy.Document{endpoint.PoliciesOf(t, recordedCluster)["own"]}
			})
			root := *w
			root.cfg.Credentials = credentials.NewStaticCredentialsProvider(simulator.JoinerKey, "secret", "")
			root.ec2 = ec2.NewFromConfig(root.cfg)
			err := tc.ask(t, w, &root)
			wantCode(t, err, tc.code)
			if tc.code != "" && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("refused with %v, want %q in it: %s", err, tc.says, tc.reason)
			}
		})
	}
}

// run launches one instance with tags and gives its ID.
func (w *testEndpoint) run(t *testing.T, pairs ...string) string {
	t.Helper()
	in := &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ImageId: aws.String(w.image(t, "x86_64"))}
	if len(pairs) > 0 {
		in.TagSpecifications = tagsOf("instance", pairs...)
	}
	out, err := w.ec2.RunInstances(t.Context(), in)
	wantCode(t, err, "")
	return *out.Instances[0].InstanceId
}

// TestEncodedMessage has STS decode the message of a refusal.
func TestEncodedMessage(t *testing.T) {
	everything, err := policy.Parse([]byte(`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Sid":"no","Effect":"Deny","Action":"ec2:DescribeSubnets","Resource":"*"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	w := newEndpoint(t, func(c *simulator.Config) { c.Policies = []*policy.Document{everything} })
	_, err = w.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	wantCode(t, err, "UnauthorizedOperation")
	found := regexp.MustCompile(`Encoded authorization failure message: (\S+)`).FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("no encoded message in %v", err)
	}
	client := sts.NewFromConfig(w.cfg)
	out, err := client.DecodeAuthorizationMessage(t.Context(), &sts.DecodeAuthorizationMessageInput{EncodedMessage: &found[1]})
	wantCode(t, err, "")
	for _, want := range []string{`"explicitDeny":true`, `"items":["no"]`, `"action":"ec2:DescribeSubnets"`, `"aws:RequestedRegion"`} {
		if !strings.Contains(*out.DecodedMessage, want) {
			t.Errorf("decoded %s, want %s in it", *out.DecodedMessage, want)
		}
	}
	_, err = client.DecodeAuthorizationMessage(t.Context(), &sts.DecodeAuthorizationMessageInput{EncodedMessage: aws.String(base64.StdEncoding.EncodeToString([]byte("hello")))})
	wantCode(t, err, "InvalidAuthorizationMessageException")
}
