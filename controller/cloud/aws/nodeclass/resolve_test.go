package nodeclass_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/ec2provider"
)

var _ nodeclass.Cloud = (*aws.NodeClasses)(nil)

// endpoint is an EC2 with a clock of its own, and a resolver on it.
type endpoint struct {
	server   *sim.Server
	clock    *clocktesting.FakeClock
	provider *aws.Provider
	resolver *nodeclass.Resolver
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	w := &endpoint{clock: clocktesting.NewFakeClock(time.Date(2026, 8, 3, 10, 0, 0, 0, time.UTC))}
	at := ec2.Start(t, nil, func(cfg *sim.Config) {
		cfg.Clock = w.clock
		cfg.Types = []catalog.Type{{Name: "m5.large", Arch: "amd64", VCPU: 2, MemoryMiB: 8192, Hypervisor: "nitro", ENIs: 3, IPv4PerENI: 10}}
		cfg.Sales = []catalog.Sale{{Type: "m5.large", OnDemand: model.PriceOf(0.096), Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}}}
	})
	w.server = at.Server
	w.provider = ec2provider.New(t, at.URL, ec2provider.WithoutRetries, func(cfg *aws.Config) { cfg.Clock, cfg.Log = w.clock.Now, testr.New(t) })
	w.resolver = &nodeclass.Resolver{Cloud: w.provider.NodeClasses(), Clock: w.clock.Now}
	return w
}

func class() *awsv1.EC2NodeClass {
	c := ec2provider.NodeClass("default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	c.Generation = 3
	return c
}

func (w *endpoint) resolve(t *testing.T, c *awsv1.EC2NodeClass) awsv1.EC2NodeClassStatus {
	t.Helper()
	status, err := w.resolver.Resolve(t.Context(), c)
	if err != nil {
		t.Fatalf("resolve: %v", err)
	}
	return status
}

func wantCondition(t *testing.T, status awsv1.EC2NodeClassStatus, kind string, want metav1.ConditionStatus, words ...string) {
	t.Helper()
	c := meta.FindStatusCondition(status.Conditions, kind)
	if c == nil {
		t.Errorf("no condition %s", kind)
		return
	}
	if c.Status != want || c.ObservedGeneration != 3 {
		t.Errorf("%s is %s for generation %d (%s: %s), want %s for 3", kind, c.Status, c.ObservedGeneration, c.Reason, c.Message, want)
	}
	for _, word := range words {
		if !strings.Contains(c.Reason+": "+c.Message, word) {
			t.Errorf("%s says %q, want %q in it", kind, c.Reason+": "+c.Message, word)
		}
	}
}

func TestResolve(t *testing.T) {
	w := newEndpoint(t)
	c := class()
	status := w.resolve(t, c)
	for _, kind := range append(c.ReadyConditions(), awsv1.ConditionReady, awsv1.ConditionCapacityReservationsReady) {
		wantCondition(t, status, kind, metav1.ConditionTrue)
	}
	var zones []string
	for _, s := range status.Subnets {
		zones = append(zones, s.Zone+" "+s.ZoneID)
		if !strings.HasPrefix(s.ID, "subnet-") {
			t.Errorf("subnet %+v", s)
		}
	}
	slices.Sort(zones)
	if diff := cmp.Diff([]string{"us-west-2a usw2-az1", "us-west-2b usw2-az2", "us-west-2c usw2-az3"}, zones); diff != "" {
		t.Errorf("zones of the subnets:\n%s", diff)
	}
	if len(status.SecurityGroups) != 1 || status.SecurityGroups[0].Name != "demo-node" {
		t.Errorf("security groups %+v", status.SecurityGroups)
	}
	names := map[string]string{}
	for _, a := range status.AMIs {
		names[a.Name] = requirements(a)
	}
	if diff := cmp.Diff(map[string]string{
		"amazon-eks-node-al2023-x86_64-standard-1.36-v20260715": "arch In amd64, instance-gpu-count DoesNotExist, instance-accelerator-count DoesNotExist",
		"amazon-eks-node-al2023-arm64-standard-1.36-v20260715":  "arch In arm64, instance-gpu-count DoesNotExist, instance-accelerator-count DoesNotExist",
		"amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260715":   "arch In amd64, instance-gpu-count Exists",
		"amazon-eks-node-al2023-arm64-nvidia-1.36-v20260715":    "arch In arm64, instance-gpu-count Exists",
		"amazon-eks-node-al2023-x86_64-neuron-1.36-v20260715":   "arch In amd64, instance-accelerator-count Exists",
	}, names); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(status.InstanceProfile, "demo_") || !slices.Contains(w.server.State().Profiles, status.InstanceProfile) {
		t.Errorf("instance profile %q, and there are %q", status.InstanceProfile, w.server.State().Profiles)
	}
	c.Status = status
	w.clock.Step(time.Minute)
	if diff := cmp.Diff(status, w.resolve(t, c)); diff != "" {
		t.Errorf("resolving again changed the status:\n%s", diff)
	}
}

func requirements(a awsv1.AMI) string {
	var out []string
	for _, r := range a.Requirements {
		_, key, _ := strings.Cut(r.Key, "/")
		out = append(out, strings.TrimSpace(key+" "+string(r.Operator)+" "+strings.Join(r.Values, "|")))
	}
	return strings.Join(out, ", ")
}

func TestResolveImages(t *testing.T) {
	const standard = "amazon-eks-node-al2023-x86_64-standard-1.36-"
	for name, c := range map[string]struct {
		reason string
		terms  []awsv1.AMISelectorTerm
		want   []string
	}{
		"pinned":           {reason: "a pinned alias is that release", terms: []awsv1.AMISelectorTerm{{Alias: "al2023@v20260601"}}, want: []string{standard + "v20260601"}},
		"bottlerocket":     {reason: "Bottlerocket has parameters of its own", terms: []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}, want: []string{"bottlerocket-aws-k8s-1.36-x86_64-v1.60.1", "bottlerocket-aws-k8s-1.36-nvidia-arm64-v1.60.1"}},
		"bottlerocket pin": {reason: "with or without v", terms: []awsv1.AMISelectorTerm{{Alias: "bottlerocket@v1.58.0"}}, want: []string{"bottlerocket-aws-k8s-1.36-x86_64-v1.58.0"}},
		"name":             {reason: "the newest of those with the name", terms: []awsv1.AMISelectorTerm{{Name: standard + "*", Owner: "amazon"}}, want: []string{standard + "v20260715"}},
		"name and default owner": {
			reason: "Amazon's and our own count without an owner",
			terms:  []awsv1.AMISelectorTerm{{Name: standard + "v20260601"}}, want: []string{standard + "v20260601"},
		},
		"parameter": {
			reason: "a parameter that holds an id",
			terms:  []awsv1.AMISelectorTerm{{SSMParameter: "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/recommended/image_id"}},
			want:   []string{"amazon-eks-node-al2023-arm64-standard-1.36-v20260715"},
		},
		"two terms": {
			reason: "one image for each architecture",
			terms:  []awsv1.AMISelectorTerm{{Name: standard + "v20260601"}, {Name: "amazon-eks-node-al2023-arm64-standard-1.36-v20260601"}},
			want:   []string{standard + "v20260601", "amazon-eks-node-al2023-arm64-standard-1.36-v20260601"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t)
			in := class()
			in.Spec.AMISelectorTerms = c.terms
			in.Spec.AMIFamily = sdk.String(awsv1.AMIFamilyCustom)
			status := w.resolve(t, in)
			wantCondition(t, status, awsv1.ConditionAMIsReady, metav1.ConditionTrue)
			for _, want := range c.want {
				i := slices.IndexFunc(status.AMIs, func(a awsv1.AMI) bool { return a.Name == want })
				if i < 0 {
					t.Fatalf("%s: %q is not among %+v", c.reason, want, status.AMIs)
				}
				// By id it is the same image.
				in.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: status.AMIs[i].ID}}
				if again := w.resolve(t, in).AMIs; len(again) != 1 || again[0].Name != want {
					t.Errorf("by id: %+v, want %s", again, want)
				}
			}
		})
	}
}

func TestDeprecatedImage(t *testing.T) {
	w := newEndpoint(t)
	w.clock.Step(3 * 365 * 24 * time.Hour)
	status := w.resolve(t, class())
	if len(status.AMIs) == 0 || !status.AMIs[0].Deprecated {
		t.Errorf("images %+v: want them, and deprecated", status.AMIs)
	}
}

func TestResolveFindsNothing(t *testing.T) {
	nothing := map[string]string{"no": "such"}
	for name, c := range map[string]struct {
		change    func(*awsv1.EC2NodeClass)
		condition string
		words     []string
	}{
		"no subnets": {
			func(c *awsv1.EC2NodeClass) { c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: nothing}} },
			awsv1.ConditionSubnetsReady,
			[]string{"SubnetsNotFound", "spec.subnetSelectorTerms", "tag no=such"},
		},
		"no such subnet": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-0123456789abcdef0"}}
			},
			awsv1.ConditionSubnetsReady,
			[]string{"SubnetsNotFound", "id=subnet-0123456789abcdef0"},
		},
		"no groups": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Name: "mine"}, {Tags: nothing}}
			},
			awsv1.ConditionSecurityGroupsReady,
			[]string{"SecurityGroupsNotFound", "name=mine or tag no=such"},
		},
		"no images": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Name: "mine", Owner: "self"}}
			},
			awsv1.ConditionAMIsReady,
			[]string{"AMINotFound", "name=mine owner=self"},
		},
		"no such release": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@v19990101"}}
			},
			awsv1.ConditionAMIsReady,
			[]string{"NotFound", "al2023@v19990101", "Kubernetes 1.36"},
		},
		"no such role": {
			func(c *awsv1.EC2NodeClass) { c.Spec.Role = "nobody" },
			awsv1.ConditionInstanceProfileReady,
			[]string{"NotFound", "role nobody"},
		},
		"bad user data": {
			func(c *awsv1.EC2NodeClass) { c.Spec.UserData = sdk.String("hello: {}") },
			awsv1.ConditionValidationSucceeded,
			[]string{"Invalid", "spec.userData", "begins with"},
		},
		"large user data": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.UserData = sdk.String("#!/bin/bash\n" + strings.Repeat("#", 1<<14))
			},
			awsv1.ConditionValidationSucceeded,
			[]string{"Invalid", "spec.userData", "16384"},
		},
		"public address of several interfaces": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.AssociatePublicIPAddress = sdk.Bool(true)
				c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeInterface}}
			},
			awsv1.ConditionValidationSucceeded,
			[]string{"Invalid", "spec.associatePublicIPAddress", "has 2"},
		},
		"bad reservation": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.Kubelet = &awsv1.KubeletConfiguration{KubeReserved: map[string]string{"cpu": "lots"}}
			},
			awsv1.ConditionValidationSucceeded,
			[]string{"spec.kubelet.kubeReserved.cpu", "lots"},
		},
		"placement group": {
			func(c *awsv1.EC2NodeClass) {
				c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: sdk.String("near")}
			},
			awsv1.ConditionPlacementGroupReady,
			[]string{"NotFound", "near"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t)
			in := class()
			in.Status = w.resolve(t, in)
			c.change(in)
			status := w.resolve(t, in)
			wantCondition(t, status, c.condition, metav1.ConditionFalse, c.words...)
			wantCondition(t, status, awsv1.ConditionReady, metav1.ConditionFalse, c.condition)
			if strings.Contains(meta.FindStatusCondition(status.Conditions, c.condition).Message, "RequestID") {
				t.Error("the message has a request id, and would change at every try")
			}
		})
	}
}

// A service that is down does not take back what is known.
func TestResolveWhileAWSIsDown(t *testing.T) {
	w := newEndpoint(t)
	c := class()
	down := func() {
		for _, f := range []sim.Fault{
			{Action: "DescribeSubnets", Code: "RequestLimitExceeded", HTTPStatus: 503},
			{Action: "DescribeSecurityGroups", HTTPStatus: 500},
			{Action: "DescribeImages", Cut: true},
		} {
			if _, err := w.server.Order(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	down()
	fresh, err := w.resolver.Resolve(t.Context(), c)
	if err == nil {
		t.Error("no error: nobody would try again soon")
	}
	wantCondition(t, fresh, awsv1.ConditionSubnetsReady, metav1.ConditionUnknown, "Throttled")
	wantCondition(t, fresh, awsv1.ConditionReady, metav1.ConditionUnknown)

	c.Status = w.resolve(t, c)
	down()
	known, err := w.resolver.Resolve(t.Context(), c)
	if err == nil {
		t.Error("no error: nobody would try again soon")
	}
	if diff := cmp.Diff(c.Status, known); diff != "" {
		t.Errorf("a resolved class changed while AWS was down:\n%s", diff)
	}
}

func TestUnauthorized(t *testing.T) {
	w := newEndpoint(t)
	if _, err := w.server.Order(sim.Fault{Action: "DescribeSubnets", Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation. Encoded authorization failure message: abc"}); err != nil {
		t.Fatal(err)
	}
	status := w.resolve(t, class())
	wantCondition(t, status, awsv1.ConditionSubnetsReady, metav1.ConditionFalse, "Unauthorized", "UnauthorizedOperation", "You are not authorized", "allow this action")
	if m := meta.FindStatusCondition(status.Conditions, awsv1.ConditionSubnetsReady).Message; strings.Contains(m, "abc") {
		t.Errorf("%q has the encoded message, which changes at every try", m)
	}
}

func TestInstanceProfiles(t *testing.T) {
	w := newEndpoint(t)
	first, second := class(), class()
	second.Name = "other"
	a, b := w.resolve(t, first).InstanceProfile, w.resolve(t, second).InstanceProfile
	if a != b || len(w.server.State().Profiles) != 1 {
		t.Errorf("two classes of one role have %s and %s of %q", a, b, w.server.State().Profiles)
	}
	if n := w.server.State().Requests["CreateInstanceProfile"][""]; n != 1 {
		t.Errorf("the profile was made %d times", n)
	}
	own := class()
	own.Spec.Role, own.Spec.InstanceProfile = "", sdk.String("mine")
	if got := w.resolve(t, own).InstanceProfile; got != "mine" {
		t.Errorf("instance profile %q, want the one named", got)
	}
	for range 2 {
		if err := w.provider.NodeClasses().DeleteInstanceProfile(t.Context(), first.Spec.Role); err != nil {
			t.Errorf("delete: %v", err)
		}
	}
	if got := w.server.State().Profiles; len(got) != 0 {
		t.Errorf("profiles %q are left", got)
	}
	if got := w.resolve(t, first).InstanceProfile; !slices.Contains(w.server.State().Profiles, got) {
		t.Errorf("profile %s was not made again", got)
	}
}
