package aws_test

import (
	"testing"

	"spokeshave.dev/controller/core/model"
)

func TestLearnMemory(t *testing.T) {
	const advertised = int64(8) << 30 // of m7i.large
	w := newEC2(t)
	memory := func() (capacity, allocatable int64) {
		c, err := w.provider.Catalog(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Types {
			if c.Types[i].Name == "m7i.large" {
				return c.Types[i].Capacity[model.Memory], c.Types[i].Allocatable[model.Memory]
			}
		}
		t.Fatal("no m7i.large")
		return 0, 0
	}
	estimate, room := memory()
	kept := estimate - room
	image := w.image(t, "m7i.large")
	for _, step := range []struct {
		reason   string
		image    string
		reported int64
		want     int64
	}{
		{"another image says nothing of this one", "ami-other", advertised - 1<<20, estimate},
		{"more than EC2 sells is not believed", image, advertised + 1, estimate},
		{"what a node reports counts", image, advertised - 300<<20, advertised - 300<<20},
		{"the least of all nodes does", image, advertised - 400<<20, advertised - 400<<20},
		{"a node with more changes nothing", image, advertised - 350<<20, advertised - 400<<20},
		{"a machine out of order is not believed", image, advertised / 2, advertised - 400<<20},
	} {
		w.provider.LearnMemory("m7i.large", step.image, step.reported)
		capacity, allocatable := memory()
		if capacity != step.want || capacity-allocatable != kept {
			t.Errorf("%s: capacity %d, want %d; %d kept, want %d", step.reason, capacity, step.want, capacity-allocatable, kept)
		}
	}
	w.provider.LearnMemory("m7i.xlarge", image, 2*advertised-1<<29)
	before, _ := memory()
	w.clock.Step(13 * 3600 * 1e9) // everything is asked of AWS anew
	if after, _ := memory(); after != before {
		t.Errorf("a refresh forgot what was learned: %d, then %d", before, after)
	}
}
