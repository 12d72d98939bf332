package disrupt

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestSnugRepeats: two kinds of pods are as much like the room as each other, but
// for the rounding of sums. Which one is taken must not depend on the order of a map.
func TestSnugRepeats(t *testing.T) {
	names := []string{model.CPU, model.Memory, model.EphemeralStorage}
	for _, amounts := range [][3]int64{{1, 3, 9}, {1, 2, 7}, {3, 5, 11}, {2, 9, 13}, {7, 11, 19}} {
		s := &model.Snapshot{Nodes: []model.Node{{Name: "stays", State: model.Initialized, Allocatable: model.Resources{}}}}
		for _, name := range names {
			s.Nodes[0].Allocatable[name] = 100
		}
		for turn := range names { // all ask for the same sums, each in another order
			spec := model.PodSpec{Namespace: "shop", Requests: model.Resources{}}
			for i, name := range names {
				spec.Requests[name] = amounts[(i+turn)%len(names)]
			}
			s.Specs = append(s.Specs, spec)
			for range 20 {
				s.Pods = append(s.Pods, model.Pod{Name: fmt.Sprint(len(s.Pods)), Spec: int32(turn), Node: -1})
			}
		}
		fill := func() []int32 {
			r := newCapacityIndex(newSpecIndex(s), s, make([]bool, len(s.Pods)))
			var all []int32
			waiting := make([]podsOfSpec, len(s.Specs))
			for i := range s.Pods {
				w := &waiting[s.Pods[i].Spec]
				w.spec, w.pods = s.Pods[i].Spec, append(w.pods, int32(i))
				all = append(all, int32(i))
			}
			return r.fillNode(0, waiting, r.demand(all))
		}
		first := fill()
		for range 40 {
			if diff := cmp.Diff(first, fill()); diff != "" {
				t.Fatalf("%v: once so, and once so:\n%s", amounts, diff)
			}
		}
	}
}
