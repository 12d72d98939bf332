package quantity_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

func TestAmount(t *testing.T) {
	for text, tc := range map[string]struct {
		reason, name string
		want         int64
	}{
		"1500m":  {"cpu counts in thousandths of a core", model.CPU, 1500},
		"100u":   {"what is less than a millicore is one", model.CPU, 1},
		"9E":     {"cpu in thousandths does not overflow", model.CPU, 1 << 56},
		"1Gi":    {"memory counts in bytes", model.Memory, 1 << 30},
		"1500.5": {"bytes are whole", model.Memory, 1501},
		"8E":     {"sums over a cluster do not overflow", model.Memory, 1 << 56},
		"1e20":   {"what int64 cannot hold is no less", model.Memory, 1 << 56},
		"1e21":   {"nor of cpu", model.CPU, 1 << 56},
		"-1":     {"nothing is less than nothing", model.Memory, 0},
		"-2":     {"nor is cpu", model.CPU, 0},
		"7":      {"devices count in units", "nvidia.com/gpu", 7},
	} {
		t.Run(text, func(t *testing.T) {
			if got := quantity.Amount(tc.name, resource.MustParse(text)); got != tc.want {
				t.Errorf("%s: %s of %s is %d, want %d", tc.reason, text, tc.name, got, tc.want)
			}
		})
	}
}

// TestThereAndBack: amounts survive a way through Kubernetes' quantities.
func TestThereAndBack(t *testing.T) {
	in := model.Resources{model.CPU: 1234, model.Memory: 3 << 28, model.EphemeralStorage: 20<<30 + 1, model.PodSlots: 110, "nvidia.com/gpu": 8}
	back := quantity.Resources(quantity.ResourceList(in))
	if len(back) != len(in) {
		t.Errorf("%v came back as %v", in, back)
	}
	for name, n := range in {
		if back[name] != n {
			t.Errorf("%d of %s came back as %d", n, name, back[name])
		}
	}
}

func TestParse(t *testing.T) {
	got, err := quantity.Parse(map[string]string{"cpu": "250m", "memory": "1Ki"})
	if err != nil || len(got) != 2 || got[model.CPU] != 250 || got[model.Memory] != 1024 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := quantity.Parse(nil); got != nil || err != nil {
		t.Errorf("of nothing: got %v, %v", got, err)
	}
	for _, text := range []string{"much", "1e-99999999"} {
		if _, err := quantity.Parse(map[string]string{"cpu": text}); err == nil {
			t.Errorf("%q was taken as a quantity", text)
		}
	}
}
