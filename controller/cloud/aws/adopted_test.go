package aws_test

import (
	"slices"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"
	k8stypes "k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/ec2"
)

// karpenters is what Karpenter made in an account: with the names, paths and tags that
// version 1.14.1 gives them.
type karpenters struct {
	iam *iam.Client
	ec2 *awsec2.Client
}

// newKarpenters acts with a key that no policy binds: what it makes is there already when
// the controllers are swapped.
func newKarpenters(url string) *karpenters {
	cfg := ec2.SDK(url)
	cfg.Credentials = credentials.NewStaticCredentialsProvider(sim.JoinerKey, "secret", "")
	return &karpenters{iam: iam.NewFromConfig(cfg), ec2: awsec2.NewFromConfig(cfg)}
}

// profile makes the instance profile of a class.
func (k *karpenters) profile(t *testing.T, name, path string) {
	t.Helper()
	var tags []iamtypes.Tag
	for key, value := range map[string]string{
		"kubernetes.io/cluster/" + ec2.Cluster: "owned", "eks:eks-cluster-name": ec2.Cluster,
		"karpenter.k8s.aws/ec2nodeclass": "gone", "topology.kubernetes.io/region": region,
	} {
		tags = append(tags, iamtypes.Tag{Key: &key, Value: &value})
	}
	if _, err := k.iam.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: &name, Path: &path, Tags: tags}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.iam.AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{
		InstanceProfileName: &name, RoleName: sdk.String("KarpenterNodeRole-" + ec2.Cluster),
	}); err != nil {
		t.Fatal(err)
	}
}

// instance launches an instance for a claim from a template of the class, into a reservation
// unless that is empty.
func (k *karpenters) instance(t *testing.T, claim, image, subnet, reservation string) string {
	t.Helper()
	tags := func(kind ec2types.ResourceType, more map[string]string) ec2types.TagSpecification {
		out := ec2types.TagSpecification{ResourceType: kind}
		for key, value := range map[string]string{
			"kubernetes.io/cluster/" + ec2.Cluster: "owned", "eks:eks-cluster-name": ec2.Cluster,
			"karpenter.k8s.aws/ec2nodeclass": "default", "karpenter.sh/nodepool": "general",
		} {
			out.Tags = append(out.Tags, ec2types.Tag{Key: &key, Value: &value})
		}
		for key, value := range more {
			out.Tags = append(out.Tags, ec2types.Tag{Key: &key, Value: &value})
		}
		return out
	}
	name := "karpenter.k8s.aws/17500763280339416974"
	data := &ec2types.RequestLaunchTemplateData{ImageId: &image}
	if reservation != "" {
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeCapacityBlock}
		data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationTarget: &ec2types.CapacityReservationTarget{CapacityReservationId: &reservation},
		}
	}
	if _, err := k.ec2.CreateLaunchTemplate(t.Context(), &awsec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name, LaunchTemplateData: data,
		TagSpecifications: []ec2types.TagSpecification{tags(ec2types.ResourceTypeLaunchTemplate, nil)},
	}); err != nil {
		t.Fatal(err)
	}
	out, err := k.ec2.RunInstances(t.Context(), &awsec2.RunInstancesInput{
		MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), InstanceType: "m7i.large", SubnetId: &subnet,
		LaunchTemplate:    &ec2types.LaunchTemplateSpecification{LaunchTemplateName: &name},
		TagSpecifications: []ec2types.TagSpecification{tags(ec2types.ResourceTypeInstance, map[string]string{"karpenter.sh/nodeclaim": claim})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return "aws:///us-west-2a/" + *out.Instances[0].InstanceId
}

// Under either policy the controller takes over what Karpenter left: it finds, names and
// ends its instances, and deletes the templates and profiles that nothing uses any more.
func TestAdopted(t *testing.T) {
	for name, allowed := range ec2.Policies(t) {
		t.Run(name, func(t *testing.T) {
			w := newEC2Under(t, allowed)
			theirs := newKarpenters(w.url)
			id := theirs.instance(t, "general-x", w.image(t, "m7i.large"), w.classes["default"].Status.Subnets[0].ID, "")
			path := "/karpenter/" + region + "/" + ec2.Cluster + "/"
			theirs.profile(t, "demo_1", path+"uid-gone/")
			theirs.profile(t, "demo_2", path+"uid-here/")
			theirs.profile(t, "other_1", "/karpenter/"+region+"/other/uid-gone/")
			w.clock.Step(2 * time.Hour)

			found, err := w.provider.List(t.Context())
			if err != nil || len(found) != 1 || found[0].Tags["karpenter.sh/nodeclaim"] != "general-x" {
				t.Fatalf("list: %+v, %v; want Karpenter's instance", found, err)
			}
			if err := w.provider.Tag(t.Context(), found[0].ProviderID, map[string]string{"Name": "ip-10-0-0-1"}); err != nil {
				t.Errorf("tag: %v", err)
			}
			n, err := w.provider.NodeClasses().SweepTemplates(t.Context())
			if err != nil || n != 1 {
				t.Errorf("swept %d templates, %v, want Karpenter's", n, err)
			}
			n, err = w.provider.NodeClasses().SweepProfiles(t.Context(), resolve.ProfileUse{
				Roles: map[string]bool{"KarpenterNodeRole-" + ec2.Cluster: true}, Classes: map[k8stypes.UID]bool{"uid-here": true},
			})
			if err != nil || n != 1 {
				t.Errorf("swept %d profiles, %v, want that of the class that is gone", n, err)
			}
			if left := w.server.State().Profiles; len(left) != 3 {
				t.Errorf("profiles %v, want ours, that of the class that is here and the other cluster's", left)
			}
			if err := w.provider.Terminate(t.Context(), id); err != nil {
				t.Errorf("terminate: %v", err)
			}
		})
	}
}

// Under either policy a capacity block that Karpenter has launched into goes on being used: what
// is left of it is offered and launched into, its instances are told of in time for a drain,
// Karpenter's too.
func TestAdoptedReservation(t *testing.T) {
	for name, allowed := range ec2.Policies(t) {
		t.Run(name, func(t *testing.T) {
			w := newEC2Under(t, allowed)
			end := w.clock.Now().Add(2 * time.Hour)
			w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 2, Kind: "capacity-block", End: &end})
			class := w.classes["default"]
			at := slices.IndexFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.Zone == "us-west-2a" })
			theirs := newKarpenters(w.url).instance(t, "general-x", w.image(t, "m7i.large"), class.Status.Subnets[at].ID, "cr-01")
			w.resolve(t, class)
			if got := w.reserved(t); !slices.Equal(got, []string{"m7i.large us-west-2a cr-01 free 1 true"}) {
				t.Errorf("reserved offerings %q, want the one place that Karpenter left", got)
			}
			ours, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.Reserved))))
			if err != nil {
				t.Fatal(err)
			}
			if got := w.drawn(); !slices.Equal(got, []string{"cr-01", "cr-01"}) {
				t.Errorf("instances draw on %q, want both on the block", got)
			}
			w.clock.Step(81 * time.Minute)
			told, err := w.provider.Troubled(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for _, e := range told {
				got = append(got, string(e.Kind)+" "+e.InstanceID)
			}
			for _, providerID := range []string{theirs, ours.ProviderID} {
				id, err := instances.InstanceID(providerID)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, string(provider.ReservationEnds)+" "+id)
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("forty minutes before the end (-want +got):\n%s", diff)
			}
		})
	}
}
