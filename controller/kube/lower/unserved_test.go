package lower

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestUnserved: pods whose scheduler has looked at none of its pods for five minutes are
// told so, in a live cluster and in a dump of one. All others are as ever.
func TestUnserved(t *testing.T) {
	const ghost = `{metadata: {name: a, creationTimestamp: %q}, spec: {schedulerName: ghost}, status: {phase: Pending}}`
	old, young := strings.ReplaceAll(ghost, "%q", `"2026-03-04T11:50:00Z"`), strings.ReplaceAll(ghost, "%q", `"2026-03-04T11:57:00Z"`)
	for name, tc := range map[string]struct {
		reason string
		live   bool
		pods   []string
		// told is how many pods are told, of how many that need a place.
		told, waiting int
	}{
		"live":     {"nobody has looked for ten minutes", true, []string{old}, 1, 1},
		"dump":     {"the same in a file", false, []string{old}, 1, 1},
		"young":    {"a scheduler may need some minutes to start", true, []string{young}, 0, 0},
		"both":     {"one pod has waited for long enough for all", true, []string{old, strings.Replace(young, "name: a", "name: b", 1)}, 2, 2},
		"manifest": {"a manifest without a creation time tells nothing about schedulers", false, []string{`{metadata: {name: a}, spec: {schedulerName: ghost}}`}, 0, 1},
		"looked": {
			"another pod of the scheduler was looked at", true,
			[]string{old, `{metadata: {name: b}, spec: {schedulerName: ghost}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`},
			0, 1,
		},
		"bound":   {"another pod of the scheduler has a node", true, []string{old, `{metadata: {name: b}, spec: {schedulerName: ghost, nodeName: n}, status: {phase: Running}}`}, 0, 0},
		"default": {"the default scheduler is taken to exist", true, []string{strings.Replace(old, "ghost", "default-scheduler", 1)}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Live: tc.live}
			for _, text := range tc.pods {
				in.Pods = append(in.Pods, parse[corev1.Pod](t, text))
			}
			s, _ := Build(in)
			told := 0
			for i := range s.Pods {
				if text := strings.Join(s.Specs[s.Pods[i].Spec].Unsupported, ""); strings.Contains(text, `schedulerName "ghost"`) {
					told++
				}
			}
			if told != tc.told || len(s.Pods) != tc.waiting {
				t.Errorf("%s: %d of %d pods are told, want %d of %d", tc.reason, told, len(s.Pods), tc.told, tc.waiting)
			}
		})
	}
}
