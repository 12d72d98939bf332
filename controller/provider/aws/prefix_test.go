package aws_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/provider/aws"
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
			w := newWorldOf(t, "m7i.")
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
	w := newWorldOf(t, "m7i.")
	w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.PrefixDelegation = true })
	attempt := w.prepare(t, spec("a", option("m7i.xlarge", "us-west-2a", model.OnDemand), option("m7i.8xlarge", "us-west-2a", model.OnDemand), option("m7i.2xlarge", "us-west-2a", model.OnDemand)))
	if n := strings.Count(string(attempt.Request), `"LaunchTemplateName"`); n != 2 {
		t.Errorf("%d launch templates in the request, want one for 110 pods and one for 250", n)
	}
}
