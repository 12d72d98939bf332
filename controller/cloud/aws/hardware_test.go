package aws_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// templateOf is the launch template that the first option of an attempt is launched with.
func (w *simulatedEC2) templateOf(t *testing.T, attempt *provider.Attempt) *types.ResponseLaunchTemplateData {
	t.Helper()
	var in ec2.CreateFleetInput
	if err := json.Unmarshal(attempt.Request, &in); err != nil {
		t.Fatal(err)
	}
	out, err := ec2.NewFromConfig(w.sdkConfig()).DescribeLaunchTemplateVersions(t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{
		LaunchTemplateName: in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName, Versions: []string{"$Latest"},
	})
	if err != nil || len(out.LaunchTemplateVersions) != 1 {
		t.Fatalf("describe launch template: %v", err)
	}
	return out.LaunchTemplateVersions[0].LaunchTemplateData
}

// launched prepares and launches a claim, and gives its template.
func (w *simulatedEC2) launched(t *testing.T, s provider.LaunchSpec) *types.ResponseLaunchTemplateData {
	t.Helper()
	attempt := w.prepare(t, s)
	if _, err := w.provider.Launch(t.Context(), attempt); err != nil {
		t.Fatalf("launch %s: %v", s.Claim, err)
	}
	return w.templateOf(t, &attempt)
}

// Adapters are attached where the planned pods request some, one on each network card of
// the type, and nowhere else.
func TestAdaptersAreAttached(t *testing.T) {
	w := newEC2Of(t, "c5n.", "p4d.")
	if all := w.launched(t, spec("plain", option("p4d.24xlarge", "us-west-2a", model.OnDemand))).NetworkInterfaces; len(all) != 0 {
		t.Errorf("interfaces without a request: %+v", all)
	}
	for name, want := range map[string]int{"c5n.18xlarge": 1, "p4d.24xlarge": 4} {
		s := spec("efa-"+name[:3], option(name, "us-west-2a", model.OnDemand))
		s.Requests = model.Resources{provider.ResourceEFA: 1}
		all := w.launched(t, s).NetworkInterfaces
		adapters := 0
		for _, n := range all {
			if sdk.ToString(n.InterfaceType) == "efa" {
				adapters++
			}
		}
		if adapters != want || len(all) != want {
			t.Errorf("%s: %d interfaces, %d with adapters, want %d", name, len(all), adapters, want)
		}
	}
}

// Nodes of an IPv6 cluster have a primary IPv6 address of their own, whatever subnets assign.
func TestIPv6Cluster(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	for cidr, want := range map[string]bool{"10.100.0.0/16": false, "fd00:10:96::/108": true} {
		w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.ServiceCIDR = cidr })
		w.resolve(t, w.classes["default"])
		got := false
		for _, n := range w.launched(t, spec("node-"+cidr[:2], option("m7i.large", "us-west-2a", model.OnDemand))).NetworkInterfaces {
			got = got || sdk.ToInt32(n.Ipv6AddressCount) == 1 && sdk.ToBool(n.PrimaryIpv6)
		}
		if got != want {
			t.Errorf("services in %s: the node has a primary IPv6 address: %t, want %t", cidr, got, want)
		}
	}
}

// Hardware that no other account shares, and instances divided for enclaves.
func TestTenancyAndEnclaves(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	plain := w.launched(t, spec("plain", option("m7i.xlarge", "us-west-2a", model.OnDemand)))
	if plain.Placement != nil || plain.EnclaveOptions != nil {
		t.Errorf("placement %+v and enclaves %+v of a node that asks for neither", plain.Placement, plain.EnclaveOptions)
	}
	s := spec("own", option("m7i.xlarge", "us-west-2a", model.OnDemand))
	s.Labels[awsv1.LabelInstanceTenancy] = "dedicated"
	s.Requests = model.Resources{string(awsv1.ResourceNIPSlots): 1}
	own := w.launched(t, s)
	if own.Placement == nil || own.Placement.Tenancy != types.TenancyDedicated || own.EnclaveOptions == nil || !sdk.ToBool(own.EnclaveOptions.Enabled) {
		t.Errorf("placement %+v, enclaves %+v, want dedicated and enabled", own.Placement, own.EnclaveOptions)
	}
}

// A node can ask for a partition of its group, if the group has it.
func TestPartitionIsAskedFor(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "apart", Strategy: "partition", Partitions: 3}}); err != nil {
		t.Fatal(err)
	}
	class := w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("apart")}
	w.resolve(t, class)
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	s.Labels[awsv1.LabelPlacementGroupPartition] = "2"
	if p := w.launched(t, s).Placement; p == nil || sdk.ToInt32(p.PartitionNumber) != 2 {
		t.Errorf("placement %+v, want partition 2", p)
	}
	for _, wrong := range []string{"4", "0", "two"} {
		s := spec("b", option("m7i.large", "us-west-2a", model.OnDemand))
		s.Labels[awsv1.LabelPlacementGroupPartition] = wrong
		if _, err := w.provider.Prepare(t.Context(), s); provider.KindOf(err) != provider.Invalid {
			t.Errorf("partition %s of 3: %v, want a refusal", wrong, err)
		}
	}
}

// Groups of the strategy cluster do not take burstable types, so that the class is not
// offered any.
func TestTypesOfPlacementGroup(t *testing.T) {
	w := newEC2Of(t, "m7i.large", "t3.")
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close", Strategy: "cluster"}}); err != nil {
		t.Fatal(err)
	}
	class := w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("close")}
	w.resolve(t, class)
	c := w.catalog(t, "default")
	find(t, &c, "m7i.large")
	if at := slices.IndexFunc(c.Types, func(t model.InstanceType) bool { return strings.HasPrefix(t.Name, "t3.") }); at >= 0 {
		t.Errorf("%s is offered in a cluster placement group", c.Types[at].Name)
	}
}

// What a placement group has no room for is sold out in that group alone; what is sold out
// outside of it is sold out there too.
func TestShortageInAGroup(t *testing.T) {
	w := newEC2Of(t, "m7i.large", "m7i.xlarge")
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close", Strategy: "cluster"}}); err != nil {
		t.Fatal(err)
	}
	class := w.class(t, "close", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
	class.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("close")}
	w.resolve(t, class)
	available := func(class, name string) bool {
		c := w.catalog(t, class)
		all := find(t, &c, name).Offerings
		at := slices.IndexFunc(all, func(o model.Offering) bool { return o.Zone == "us-west-2a" && o.CapacityType == model.OnDemand })
		return all[at].Available
	}
	none := 0
	for class, name := range map[string]string{"close": "m7i.large", "default": "m7i.xlarge"} {
		w.setFree(t, &none, option(name, "us-west-2a", model.OnDemand))
		s := spec("a-"+class, option(name, "us-west-2a", model.OnDemand))
		s.NodeClass = class
		if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); provider.KindOf(err) != provider.InsufficientCapacity {
			t.Fatalf("launch of %s: %v, want a shortage", class, err)
		}
	}
	for _, c := range []struct {
		class, name string
		want        bool
	}{{"close", "m7i.large", false}, {"default", "m7i.large", true}, {"default", "m7i.xlarge", false}, {"close", "m7i.xlarge", false}} {
		if got := available(c.class, c.name); got != c.want {
			t.Errorf("class %s: %s is available: %t", c.class, c.name, got)
		}
	}
}
