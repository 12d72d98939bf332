package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestWithoutUnrequested: adapters are attached, and counted, only where pods request some. What
// the type has stays as it is, since other nodes share it.
func TestWithoutUnrequested(t *testing.T) {
	plain, adapters := model.Resources{model.CPU: 4000}, model.Resources{model.CPU: 4000, ResourceEFA: 4}
	for name, c := range map[string]struct {
		reason    string
		of        model.Resources
		requested string
		want      model.Resources
	}{
		"requested":     {"they are attached", adapters, ResourceEFA, adapters},
		"not requested": {"the node is launched without", adapters, string(model.CPU), plain},
		"none":          {"the type has no adapters", plain, ResourceEFA, plain},
	} {
		before := c.of.Clone()
		got := WithoutUnrequested(c.of, func(name string) bool { return name == c.requested })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, c.reason, diff)
		}
		if diff := cmp.Diff(before, c.of); diff != "" {
			t.Errorf("%s: the resources of the type changed:\n%s", name, diff)
		}
	}
}
