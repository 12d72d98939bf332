package simulator_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/simulator"
)

// A /28 subnet has 11 addresses. A fleet beyond them says so, and what an ended
// instance gives back is given out again.
func TestSubnetRunsOut(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.Limits.SubnetPrefix = 28 })
	id := w.template(t, "one")
	in := fleet(id, onDemand, override("m5.large", "us-west-2a", 0))
	in.TargetCapacitySpecification.TotalTargetCapacity = aws.Int32(12)
	out, err := w.ec2.CreateFleet(t.Context(), in)
	wantCode(t, err, "")
	if len(out.Instances) != 1 || len(out.Instances[0].InstanceIds) != 11 || len(out.Errors) != 1 || *out.Errors[0].ErrorCode != "InsufficientFreeAddressesInSubnet" {
		t.Fatalf("got %+v, want 11 instances and one error", out)
	}
	list, err := w.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{where("availability-zone", "us-west-2a")}})
	wantCode(t, err, "")
	if n := *list.Subnets[0].AvailableIpAddressCount; n != 0 {
		t.Errorf("%d addresses are free, want 0", n)
	}
	gone := out.Instances[0].InstanceIds[3]
	address := *w.describe(t, gone).PrivateIpAddress
	_, err = w.ec2.TerminateInstances(t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{gone}})
	wantCode(t, err, "")
	w.clock.Step(time.Minute)
	out, err = w.ec2.CreateFleet(t.Context(), fleet(id, onDemand, override("m5.large", "us-west-2a", 0)))
	wantCode(t, err, "")
	if got := *w.describe(t, out.Instances[0].InstanceIds[0]).PrivateIpAddress; got != address {
		t.Errorf("the new instance has %s, want %s, which came back", got, address)
	}
}

func TestTemplateQuotas(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.Limits.LaunchTemplates, c.Limits.TemplateVersions = 2, 2 })
	data := &ec2types.RequestLaunchTemplateData{InstanceType: "m5.large"}
	create := func(name string) error {
		_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data})
		return err
	}
	version := func() error {
		_, err := w.ec2.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateName: aws.String("one"), LaunchTemplateData: data})
		return err
	}
	wantCode(t, create("one"), "")
	wantCode(t, create("two"), "")
	wantCode(t, create("three"), "MaxTemplateLimitExceeded")
	wantCode(t, version(), "")
	wantCode(t, version(), "MaxTemplateVersionLimitExceeded")
	_, err := w.ec2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String("two")})
	wantCode(t, err, "")
	wantCode(t, create("three"), "")
}

// 16 KiB count before the encoding, in templates and in RunInstances.
func TestUserDataLimit(t *testing.T) {
	w := newEndpoint(t)
	for size, code := range map[int]string{16384: "", 16385: "InvalidParameterValue"} {
		data := aws.String(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", size))))
		_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String(fmt.Sprint("of-", size)), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{UserData: data}})
		wantCode(t, err, code)
		_, err = w.ec2.RunInstances(t.Context(), &ec2.RunInstancesInput{MinCount: aws.Int32(1), MaxCount: aws.Int32(1), InstanceType: "m5.large", ImageId: aws.String(w.image(t, "x86_64")), UserData: data})
		wantCode(t, err, code)
	}
}

// Fifty fleets pass at once, then five a second. The machines are not counted.
func TestThrottle(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.Throttle = true })
	id := w.template(t, "one")
	passes := func() (n int) {
		for n < 100 {
			_, err := w.ec2.CreateFleet(t.Context(), fleet(id, onDemand, override("m5.large", "us-west-2a", 0)))
			if err != nil {
				wantCode(t, err, "RequestLimitExceeded")
				return n
			}
			n++
		}
		return n
	}
	if n := passes(); n != 50 {
		t.Errorf("%d fleets passed at once, want 50", n)
	}
	w.clock.Step(time.Second)
	if n := passes(); n != 5 {
		t.Errorf("%d fleets passed a second later, want 5", n)
	}
	if n := w.server.State().Requests["CreateFleet"]["RequestLimitExceeded"]; n != 2 {
		t.Errorf("%d refusals were counted, want 2", n)
	}
}

// An instance is seen without its tags first, and found by them later.
func TestTagsComeLater(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.Limits.TagLag = 3 * time.Second })
	out, err := w.ec2.CreateFleet(t.Context(), fleet(w.template(t, "one"), onDemand, override("m5.large", "us-west-2a", 0)))
	wantCode(t, err, "")
	id := out.Instances[0].InstanceIds[0]
	found := func() (tags, byTag, described int) {
		list, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{where("tag:karpenter.sh/nodepool", "default")}})
		wantCode(t, err, "")
		all, err := w.ec2.DescribeTags(t.Context(), &ec2.DescribeTagsInput{Filters: []ec2types.Filter{where("resource-id", id)}})
		wantCode(t, err, "")
		return len(w.describe(t, id).Tags), len(list.Reservations), len(all.Tags)
	}
	if tags, byTag, described := found(); tags+byTag+described != 0 {
		t.Errorf("at once it has %d tags, is found %d times by tag, and %d tags are described; want none", tags, byTag, described)
	}
	w.clock.Step(3 * time.Second)
	if tags, byTag, described := found(); tags == 0 || byTag != 1 || described != tags {
		t.Errorf("later it has %d tags, is found %d times by tag, and %d tags are described", tags, byTag, described)
	}
}

// Capacity that moves refuses some pools in each period, others in the next, and
// answers the same within one.
func TestSpotMoves(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.Limits.SpotPeriod = time.Hour })
	id := w.template(t, "one")
	ask := func() string {
		var out strings.Builder
		for _, kind := range []ec2types.InstanceType{"m5.large", "m5.xlarge"} {
			for _, zone := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
				got, err := w.ec2.CreateFleet(t.Context(), fleet(id, spot, override(kind, zone, 0)))
				wantCode(t, err, "")
				for _, e := range got.Errors {
					fmt.Fprintln(&out, kind, zone, *e.ErrorCode)
				}
			}
		}
		return out.String()
	}
	different := map[string]bool{}
	for range 12 {
		first := ask()
		w.clock.Step(time.Minute)
		if again := ask(); again != first {
			t.Fatalf("within a period first %q is refused, then %q", first, again)
		}
		different[first] = true
		w.clock.Step(59 * time.Minute)
	}
	if len(different) < 3 {
		t.Errorf("in 12 hours there were %d states of the market: %v", len(different), different)
	}
	for refused := range different {
		if refused != "" && !strings.Contains(refused, "InsufficientInstanceCapacity") {
			t.Errorf("refused with %s", refused)
		}
	}
}

func TestLimitsOutOfRange(t *testing.T) {
	types, sales := types()
	for name, change := range map[string]func(*simulator.Config){
		"prefix":   func(c *simulator.Config) { c.Limits.SubnetPrefix = 29 },
		"quota":    func(c *simulator.Config) { c.Limits.LaunchTemplates = -1 },
		"duration": func(c *simulator.Config) { c.Limits.TagLag = -time.Second },
	} {
		cfg := simulator.Config{Types: types, Sales: sales}
		change(&cfg)
		if _, err := simulator.New(cfg); err == nil {
			t.Errorf("%s: it was accepted", name)
		}
	}
}
