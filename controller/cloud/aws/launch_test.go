package aws_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

func option(instanceType, zone string, ct model.CapacityType) model.Option {
	return model.Option{InstanceType: instanceType, Zone: zone, CapacityType: ct}
}

func spec(claim string, options ...model.Option) provider.LaunchSpec {
	return provider.LaunchSpec{
		Claim: claim, NodePool: "general", NodeClass: "default", Options: options,
		Labels: map[string]string{"team": "shaves"},
	}
}

func (w *simulatedEC2) prepare(t testing.TB, s provider.LaunchSpec) provider.Attempt {
	t.Helper()
	attempt, err := w.provider.Prepare(t.Context(), s)
	if err != nil {
		t.Fatalf("prepare %s: %v", s.Claim, err)
	}
	return attempt
}

func (w *simulatedEC2) wantLiving(t *testing.T, want ...string) {
	t.Helper()
	got := w.living()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("instances of claims %q, want %q", got, want)
	}
}

func wantKind(t *testing.T, err error, want provider.Kind) {
	t.Helper()
	if err == nil || provider.KindOf(err) != want {
		t.Fatalf("%v, want kind %s", err, want)
	}
}

// Nodes go to the subnet with the most free addresses, counting those of nodes that EC2's
// last answer about subnets did not contain.
func TestLaunchesAreSpreadOverSubnets(t *testing.T) {
	w := newEC2With(t, []string{"m7i."}, func(cfg *sim.Config) { cfg.Limits.SubnetsPerZone = 2 })
	used := map[string]int{}
	for i := range 6 {
		attempt := w.prepare(t, spec(fmt.Sprint("claim-", i), option("m7i.large", "us-west-2a", model.OnDemand)))
		if _, err := w.provider.Launch(t.Context(), attempt); err != nil {
			t.Fatal(err)
		}
		used[string(regexp.MustCompile(`subnet-\w+`).Find(attempt.Request))]++
	}
	for subnet, n := range used {
		if n != 3 {
			t.Errorf("%d of 6 nodes are in subnet %s, want 3 in each of two", n, subnet)
		}
	}
}

// Both architectures in one request, each with an image of its own.
func TestLaunchOfTwoArchitectures(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
	}{
		"arm first": {"m7g.large", "m7i.large"},
		"x86 first": {"m7i.large", "m7g.large"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2(t)
			attempt := w.prepare(t, spec("a", option(c.first, "us-west-2a", model.OnDemand), option(c.second, "us-west-2b", model.OnDemand)))
			if n := strings.Count(string(attempt.Request), `"LaunchTemplateName"`); n != 2 {
				t.Errorf("%d launch templates in the request, want 2", n)
			}
			got, err := w.provider.Launch(t.Context(), attempt)
			if err != nil {
				t.Fatal(err)
			}
			if got.InstanceType != c.first {
				t.Errorf("launched %s, want %s", got.InstanceType, c.first)
			}
			seen, err := w.provider.Get(t.Context(), got.ProviderID)
			if err != nil {
				t.Fatal(err)
			}
			if got.ImageID == "" || got.ImageID != seen.ImageID || got.ImageID != w.image(t, c.first) {
				t.Errorf("launched image %s, described %s, want %s", got.ImageID, seen.ImageID, w.image(t, c.first))
			}
		})
	}
}

func (w *simulatedEC2) image(t *testing.T, instanceType string) string {
	t.Helper()
	arch := "amd64"
	if strings.HasPrefix(instanceType, "m7g") {
		arch = "arm64"
	}
	for _, a := range w.classes["default"].Status.AMIs {
		if slices.Contains(a.Requirements[0].Values, arch) && strings.Contains(a.Name, "standard") {
			return a.ID
		}
	}
	t.Fatalf("no image for %s", arch)
	return ""
}

func TestLaunchedInstance(t *testing.T) {
	w := newEC2(t)
	w.classes["default"].Spec.Tags = map[string]string{"cost": "42"}
	s := spec("general-1", option("g5.xlarge", "us-west-2a", model.OnDemand))
	s.StartupTaints = []model.Taint{{Key: "cni", Effect: model.NoExecute}}
	got, err := w.provider.Launch(t.Context(), w.prepare(t, s))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"karpenter.sh/nodeclaim": "general-1", "karpenter.sh/nodepool": "general", "karpenter.k8s.aws/ec2nodeclass": "default",
		"eks:eks-cluster-name": "demo", "kubernetes.io/cluster/demo": "owned", "Name": "general/general-1", "cost": "42",
	} {
		if got.Tags[key] != want {
			t.Errorf("tag %s is %q, want %q", key, got.Tags[key], want)
		}
	}
	i := w.server.State().Instances[0]
	data := i.UserData
	if raw, err := base64.StdEncoding.DecodeString(data); err == nil {
		data = string(raw)
	}
	for _, want := range []string{
		"team=shaves", "karpenter.sh/nodepool=general", "karpenter.sh/capacity-type=on-demand",
		"karpenter.sh/unregistered=:NoExecute", "cni=:NoExecute", "name: demo", "certificateAuthority: Q0E=",
	} {
		if !strings.Contains(data, want) {
			t.Errorf("user data lacks %q:\n%s", want, data)
		}
	}
}

func TestTemplatesAreShared(t *testing.T) {
	w := newEC2(t)
	for _, claim := range []string{"a", "b", "c"} {
		if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec(claim, option("m7i.large", "us-west-2a", model.OnDemand)))); err != nil {
			t.Fatal(err)
		}
	}
	state := w.server.State()
	if n := state.Requests["CreateLaunchTemplate"][""]; n != 1 || len(state.Templates) != 1 {
		t.Errorf("%d calls made the templates %q, want one", n, state.Templates)
	}
	other := spec("d", option("m7i.large", "us-west-2a", model.OnDemand))
	other.Labels = map[string]string{"team": "other"}
	w.prepare(t, other)
	if n := len(w.server.State().Templates); n != 2 {
		t.Errorf("%d templates after other labels, want 2", n)
	}
}

// A controller that has just started knows no template and finds them.
func TestReplayAfterRestart(t *testing.T) {
	w := newEC2(t)
	s := spec("a", option("m7i.large", "us-west-2a", model.Spot))
	attempt := w.prepare(t, s)
	first, err := w.provider.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	w.provider = w.newProvider(t, w.url)
	if again := w.prepare(t, s); again.Token != attempt.Token {
		t.Error("after a restart the same spec gives another attempt")
	}
	again, err := w.provider.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	if first.ProviderID != again.ProviderID || again.Claim != "a" || again.CapacityType != model.Spot || again.ImageID != first.ImageID {
		t.Errorf("before the restart %+v, after it %+v", first, again)
	}
	w.wantLiving(t, "a")
}

func TestTemplateDeletedByOthers(t *testing.T) {
	w := newEC2(t)
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	attempt := w.prepare(t, s)
	other := w.newProvider(t, w.url)
	if err := other.NodeClasses().DeleteTemplates(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	_, err := w.provider.Launch(t.Context(), attempt)
	if err == nil || !provider.KindOf(err).Definitive() {
		t.Fatalf("launch without its template: %v, want a definitive error", err)
	}
	s.Ordinal++
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); err != nil {
		t.Fatalf("the next attempt: %v", err)
	}
	w.wantLiving(t, "a")
}

// What goes wrong with the call as a whole, and what the next try finds.
func TestLaunchFaults(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		fault  sim.Fault
		want   provider.Kind
		// started says that the failed call took effect.
		started bool
	}{
		"throttled":            {reason: "ask again later", fault: sim.Fault{Code: "RequestLimitExceeded", HTTPStatus: 503}, want: provider.Throttled},
		"server error":         {reason: "nobody knows", fault: sim.Fault{HTTPStatus: 500}, want: provider.Unavailable},
		"lost before":          {reason: "nobody knows", fault: sim.Fault{Cut: true}, want: provider.Unavailable},
		"lost after":           {reason: "nobody knows", fault: sim.Fault{AfterSuccess: true}, want: provider.Unavailable, started: true},
		"server error after":   {reason: "nobody knows", fault: sim.Fault{AfterSuccess: true, HTTPStatus: 500}, want: provider.Unavailable, started: true},
		"throttled after":      {reason: "nobody knows", fault: sim.Fault{AfterSuccess: true, Code: "RequestLimitExceeded", HTTPStatus: 503}, want: provider.Throttled, started: true},
		"unauthorized":         {reason: "a person must help", fault: sim.Fault{Code: "UnauthorizedOperation"}, want: provider.Unauthorized},
		"credentials expired":  {reason: "a person must help", fault: sim.Fault{Code: "ExpiredToken"}, want: provider.Unauthorized},
		"quota":                {reason: "a person must help", fault: sim.Fault{Code: "VcpuLimitExceeded"}, want: provider.Quota},
		"wrong parameter":      {reason: "never succeeds", fault: sim.Fault{Code: "InvalidParameterValue"}, want: provider.Invalid},
		"unknown client error": {reason: "never succeeds", fault: sim.Fault{Code: "SomethingNew", HTTPStatus: 400}, want: provider.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2(t)
			s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
			attempt := w.prepare(t, s)
			c.fault.Action = "CreateFleet"
			w.order(t, c.fault)
			_, err := w.provider.Launch(t.Context(), attempt)
			wantKind(t, err, c.want)
			if !strings.Contains(err.Error(), "launch a: ") {
				t.Errorf("%q does not say what failed", err)
			}
			if c.started {
				w.wantLiving(t, "a")
			}
			if provider.KindOf(err).Definitive() {
				s.Ordinal++
				attempt = w.prepare(t, s)
			}
			if _, err := w.provider.Launch(t.Context(), attempt); err != nil {
				t.Fatalf("after the fault (%s): %v", c.reason, err)
			}
			w.wantLiving(t, "a")
		})
	}
}

// The first call starts an instance and its answer is lost; the repeated call
// fails for good. The instance must be found, or the next attempt doubles it.
func TestLostAnswerThenDefinitiveFailure(t *testing.T) {
	w := newEC2(t)
	attempt := w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand)))
	w.order(t, sim.Fault{Action: "CreateFleet", AfterSuccess: true})
	w.order(t, sim.Fault{Action: "CreateFleet", Code: "UnauthorizedOperation", Count: 2})
	_, err := w.provider.Launch(t.Context(), attempt)
	wantKind(t, err, provider.Unavailable)

	w.order(t, sim.Fault{Action: "DescribeInstances", HTTPStatus: 500})
	_, err = w.provider.Launch(t.Context(), attempt)
	wantKind(t, err, provider.Unavailable)

	got, err := w.provider.Launch(t.Context(), attempt)
	if err != nil || got.Claim != "a" {
		t.Fatalf("Launch = %+v, %v; want the instance that exists", got, err)
	}
	w.wantLiving(t, "a")
}

// Errors inside an answer that started nothing: definitive, whatever they are.
func TestFleetErrors(t *testing.T) {
	first, second := option("m7i.large", "us-west-2a", model.OnDemand), option("m7i.xlarge", "us-west-2b", model.OnDemand)
	for name, c := range map[string]struct {
		codes [2]string
		want  provider.Kind
		// sold are the offerings marked; wide says that others rest, too.
		sold []model.Option
		wide bool
	}{
		"sold out":            {codes: [2]string{"InsufficientInstanceCapacity", "InsufficientInstanceCapacity"}, want: provider.InsufficientCapacity, sold: []model.Option{first, second}},
		"no addresses":        {codes: [2]string{"InsufficientFreeAddressesInSubnet", "InsufficientInstanceCapacity"}, want: provider.InsufficientCapacity, sold: []model.Option{first, second}, wide: true},
		"quota":               {codes: [2]string{"VcpuLimitExceeded", "VcpuLimitExceeded"}, want: provider.Quota, sold: []model.Option{first, second}, wide: true},
		"quota and sold out":  {codes: [2]string{"VcpuLimitExceeded", "InsufficientInstanceCapacity"}, want: provider.InsufficientCapacity, sold: []model.Option{first, second}, wide: true},
		"busy":                {codes: [2]string{"RequestLimitExceeded", "InternalError"}, want: provider.Stale},
		"busy and sold out":   {codes: [2]string{"RequestLimitExceeded", "InsufficientInstanceCapacity"}, want: provider.InsufficientCapacity, sold: []model.Option{second}},
		"unauthorized":        {codes: [2]string{"UnauthorizedOperation", "UnauthorizedOperation"}, want: provider.Unauthorized},
		"wrong and sold out":  {codes: [2]string{"InvalidParameterValue", "InsufficientInstanceCapacity"}, want: provider.InsufficientCapacity, sold: []model.Option{second}},
		"wrong configuration": {codes: [2]string{"InvalidParameterCombination", "SomethingNew"}, want: provider.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2(t)
			for i, o := range []model.Option{first, second} {
				w.order(t, sim.Fault{Code: c.codes[i], Forever: true, Offering: &sim.Offering{Type: o.InstanceType, Zone: o.Zone}})
			}
			_, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", first, second)))
			wantKind(t, err, c.want)
			var fault *provider.Error
			if !errors.As(err, &fault) || len(fault.Offerings) != len(c.sold) {
				t.Errorf("offerings %+v, want %+v", fault.Offerings, c.sold)
			}
			catalog := w.catalog(t, "default")
			for _, o := range []model.Option{first, second} {
				for _, offering := range find(t, &catalog, o.InstanceType).Offerings {
					sold := slices.Contains(c.sold, model.Option{InstanceType: o.InstanceType, Zone: offering.Zone, CapacityType: offering.CapacityType})
					if offering.Available == sold && (sold || !c.wide) {
						t.Errorf("%s %+v: available %t", o.InstanceType, offering, offering.Available)
					}
				}
			}
			w.wantLiving(t)
		})
	}
}

// A launch that succeeds still learns what was sold out on the way.
func TestPartialSuccessMarksTheSoldOut(t *testing.T) {
	w := newEC2(t)
	first, second := option("m7i.large", "us-west-2a", model.OnDemand), option("m7i.xlarge", "us-west-2b", model.OnDemand)
	w.setFree(t, new(0), first)
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", first, second))); err != nil {
		t.Fatal(err)
	}
	available := func() bool {
		t.Helper()
		catalog := w.catalog(t, "default")
		o := find(t, &catalog, "m7i.large").Offerings
		return o[slices.IndexFunc(o, func(o model.Offering) bool { return o.Zone == "us-west-2a" && o.CapacityType == model.OnDemand })].Available
	}
	if available() {
		t.Error("the first option was sold out and is still available")
	}
	w.clock.Step(3 * time.Minute)
	if !available() {
		t.Error("three minutes later it is still marked sold out")
	}
}

func TestListIsOfThisClusterAlone(t *testing.T) {
	w := newEC2(t)
	ours := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, ours)); err != nil {
		t.Fatal(err)
	}
	id := w.server.State().Instances[0].ID
	if err := w.provider.Tag(t.Context(), "aws:///us-west-2a/"+id, map[string]string{awsv1.TagEKSCluster: "other"}); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(time.Hour)
	got, err := w.provider.List(t.Context())
	if err != nil || len(got) != 0 {
		t.Errorf("List = %+v, %v; want nothing: the instance is another cluster's", got, err)
	}
}

// An instance that dies at once is not kept alive by our memory of its launch.
func TestFreshInstanceTerminatedByOthers(t *testing.T) {
	w := newEC2(t)
	got, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand))))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.newProvider(t, w.url).Terminate(t.Context(), got.ProviderID); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(30 * time.Second)
	if list, err := w.provider.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("List = %+v, %v; want nothing", list, err)
	}
	_, err = w.provider.Get(t.Context(), got.ProviderID)
	wantKind(t, err, provider.NotFound)
}

func TestMalformedProviderID(t *testing.T) {
	w := newEC2(t)
	for _, id := range []string{"", "i-0123456789abcdef0", "gce:///us-west-2a/i-1", "aws:///us-west-2a", "aws:////i-1", "aws:///us-west-2a/eni-1", "aws:///a/i-1/x"} {
		_, err := w.provider.Get(t.Context(), id)
		wantKind(t, err, provider.Invalid)
	}
}
