package aws_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/providertest"
	"spokeshave.dev/test/kit/ec2"
)

// The variables that point the conformance suite at an endpoint of one's own; the
// SDK's variables say where it is and who asks. docs/aws.md says how.
const (
	// envConformance, when set, takes the endpoint from the environment.
	envConformance = "SPOKESHAVE_CONFORMANCE"
	// envDiscovery is the value of the tag karpenter.sh/discovery on subnets and
	// security groups, envRole the nodes' role, envVersion Kubernetes' version.
	envDiscovery = "SPOKESHAVE_CONFORMANCE_DISCOVERY"
	envRole      = "SPOKESHAVE_CONFORMANCE_ROLE"
	envVersion   = "SPOKESHAVE_CONFORMANCE_KUBERNETES"
)

// endpoint is a cloud that the suite knows nothing of but its address.
type endpoint struct {
	discovery, role, version string
}

// endpointUnderTest is the one of the environment, or an ec2sim in real time.
func endpointUnderTest(t *testing.T) endpoint {
	t.Helper()
	e := endpoint{discovery: os.Getenv(envDiscovery), role: os.Getenv(envRole), version: os.Getenv(envVersion)}
	if os.Getenv(envConformance) != "" {
		if e.discovery == "" || e.role == "" || e.version == "" {
			t.Fatalf("set %s, %s and %s", envDiscovery, envRole, envVersion)
		}
		return e
	}
	at := ec2.Start(t, []string{"m7i."})
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": at.URL, "AWS_REGION": region, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	return endpoint{discovery: "demo", role: "KarpenterNodeRole-demo", version: "1.36"}
}

// TestConformanceAtEndpoint runs the suite against an endpoint that is found as
// the controller finds it, by the SDK's own configuration, and without any lever.
func TestConformanceAtEndpoint(t *testing.T) {
	e := endpointUnderTest(t)
	providertest.Run(t, e.harness)
}

// harness is a cluster of its own, which leaves nothing behind.
func (e endpoint) harness(t *testing.T) providertest.Harness {
	t.Helper()
	tags := map[string]string{"karpenter.sh/discovery": e.discovery}
	class := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			Role: e.role, AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: tags}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: tags}},
		},
	}
	p, err := aws.New(t.Context(), aws.Config{
		ClusterName: "conformance-" + strings.ToLower(rand.Text()[:8]), Clock: time.Now, Log: testr.New(t),
		ClusterEndpoint: "https://127.0.0.1:6443", ClusterCA: "Q0E=", ServiceCIDR: "10.100.0.0/16", KubernetesVersion: e.version,
		Classes: func(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
			if name != class.Name {
				return nil, nil
			}
			return class, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.clean(t, p) })
	if err := p.Sources().Refresh(t.Context()); err != nil {
		t.Fatalf("refresh: %v", err)
	}
	resolver := nodeclass.Resolver{Cloud: p.NodeClasses(), Clock: time.Now}
	if class.Status, err = resolver.Resolve(t.Context(), class); err != nil {
		t.Fatalf("resolve: %v", err)
	}
	return providertest.Harness{
		Provider: p, NodeClass: class.Name, UnknownID: "aws:///" + class.Status.Subnets[0].Zone + "/i-0123456789abcdef0",
		Advance: time.Sleep, //nolint:forbidigo // the endpoint runs in real time
	}
}

func (e endpoint) clean(t *testing.T, p *aws.Provider) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	defer cancel()
	left, err := p.List(ctx)
	if err != nil {
		t.Errorf("list what is left: %v", err)
	}
	for i := range left {
		if err := p.Terminate(ctx, left[i].ProviderID); err != nil && provider.KindOf(err) != provider.NotFound {
			t.Errorf("end %s: %v", left[i].ProviderID, err)
		}
	}
	if err := p.NodeClasses().DeleteTemplates(ctx, "default"); err != nil {
		t.Errorf("delete launch templates: %v", err)
	}
	if err := p.NodeClasses().DeleteInstanceProfile(ctx, e.role); err != nil {
		t.Errorf("delete instance profile: %v", err)
	}
}
