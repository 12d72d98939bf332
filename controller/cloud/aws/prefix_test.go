package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/core/model"
)

// With prefix delegation a node takes as many pods as AWS recommends, and its
// kubelet is told so: the image counts single addresses.
func TestPrefixDelegation(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		kubelet *awsv1.KubeletConfiguration
		typ     string
		want    int64
		told    string
	}{
		"small":    {reason: "below 30 vCPUs 110 pods are enough", typ: "m7i.xlarge", want: 110, told: "maxPods: 110"},
		"large":    {reason: "from 30 vCPUs on 250", typ: "m7i.8xlarge", want: 250, told: "maxPods: 250"},
		"own":      {reason: "what the class says goes before", kubelet: &awsv1.KubeletConfiguration{MaxPods: sdk.Int32(42)}, typ: "m7i.8xlarge", want: 42, told: "maxPods: 42"},
		"per core": {reason: "podsPerCore bounds it", kubelet: &awsv1.KubeletConfiguration{PodsPerCore: sdk.Int32(10)}, typ: "m7i.xlarge", want: 40, told: "maxPods: 40"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Of(t, "m7i.")
			w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.PrefixDelegation = true })
			w.classes["default"].Spec.Kubelet = c.kubelet
			catalog := w.catalog(t, "default")
			if got := find(t, &catalog, c.typ).Capacity[model.PodSlots]; got != c.want {
				t.Errorf("%s: %d pods, want %d", c.reason, got, c.want)
			}
			if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option(c.typ, "us-west-2a", model.OnDemand)))); err != nil {
				t.Fatal(err)
			}
			if text := w.server.State().Instances[0].UserData; !strings.Contains(text, c.told+"\n") {
				t.Errorf("%s: user data lacks %q:\n%s", c.reason, c.told, text)
			}
		})
	}
	// Types of either size share a request, with a launch template for each.
	w := newEC2Of(t, "m7i.")
	w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.PrefixDelegation = true })
	attempt := w.prepare(t, spec("a", option("m7i.xlarge", "us-west-2a", model.OnDemand), option("m7i.8xlarge", "us-west-2a", model.OnDemand), option("m7i.2xlarge", "us-west-2a", model.OnDemand)))
	if n := strings.Count(string(attempt.Request), `"LaunchTemplateName"`); n != 2 {
		t.Errorf("%d launch templates in the request, want one for 110 pods and one for 250", n)
	}
}

// Interfaces that pods cannot use are no news to the scheduler only when kubelet is told:
// the images count the addresses of all of them.
func TestReservedInterfacesAreToldToKubelet(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.ReservedENIs = 1 })
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand)))); err != nil {
		t.Fatal(err)
	}
	if text := w.server.State().Instances[0].UserData; !strings.Contains(text, "maxPods: 20\n") {
		t.Errorf("user data does not say that 20 pods get an address:\n%s", text)
	}
}

// The settings of the controller that say how much of a machine pods get.
func TestRoomFollowsTheSettings(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	large := func(change func(*aws.Config)) *model.InstanceType {
		t.Helper()
		w.provider = w.newProvider(t, w.url, change)
		catalog := w.catalog(t, "default")
		return find(t, &catalog, "m7i.large")
	}
	// Three interfaces with ten addresses, of which one is the interface's own; two
	// pods use the node's.
	if got := large(func(*aws.Config) {}).Capacity[model.PodSlots]; got != 3*9+2 {
		t.Errorf("%d pods, want 29", got)
	}
	if got := large(func(c *aws.Config) { c.ReservedENIs = 1 }).Capacity[model.PodSlots]; got != 2*9+2 {
		t.Errorf("%d pods with a reserved interface, want 20", got)
	}
	const advertised = int64(8) << 30
	for share, want := range map[float64]int64{0: advertised, 0.25: advertised / 4 * 3} {
		if got := large(func(c *aws.Config) { c.MemoryOverhead = &share }).Capacity[model.Memory]; got != want {
			t.Errorf("with an overhead of %v: %d bytes, want %d", share, got, want)
		}
	}
}
