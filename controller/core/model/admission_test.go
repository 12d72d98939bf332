package model

import "testing"

// TestAdmits: a node admits a pod by its labels and taints as the scheduler's filters
// NodeAffinity and TaintToleration do.
func TestAdmits(t *testing.T) {
	zone := func(values ...string) Term { return Term{{Key: "zone", Operator: In, Values: values}} }
	gpu := Taint{Key: "gpu", Value: "a", Effect: NoSchedule}
	for name, tc := range map[string]struct {
		reason string
		taints []Taint
		spec   PodSpec
		want   bool
	}{
		"nothing":          {reason: "a pod that asks for nothing runs anywhere", want: true},
		"selector":         {reason: "the label has the value", spec: PodSpec{NodeSelector: map[string]string{"zone": "a"}}, want: true},
		"other value":      {reason: "the label has another value", spec: PodSpec{NodeSelector: map[string]string{"zone": "b"}}},
		"absent and empty": {reason: "a label that is not there does not have the empty value", spec: PodSpec{NodeSelector: map[string]string{"disk": ""}}},
		"one term of two":  {reason: "one term suffices", spec: PodSpec{Affinity: []Term{zone("b"), zone("a")}}, want: true},
		"no term":          {reason: "no term matches", spec: PodSpec{Affinity: []Term{zone("b"), zone("c")}}},
		"empty term":       {reason: "an empty term matches nothing", spec: PodSpec{Affinity: []Term{{}}}},
		"no terms at all":  {reason: "an affinity of no terms matches nothing", spec: PodSpec{Affinity: []Term{}}},
		"taint":            {reason: "nothing tolerates the taint", taints: []Taint{gpu}},
		"soft taint":       {reason: "PreferNoSchedule keeps nobody off", taints: []Taint{{Key: "gpu", Effect: PreferNoSchedule}}, want: true},
		"tolerated":        {reason: "the toleration has key and value", taints: []Taint{gpu}, spec: PodSpec{Tolerations: []Toleration{{Key: "gpu", Value: "a"}}}, want: true},
		"one of two":       {reason: "the second taint is not tolerated", taints: []Taint{gpu, {Key: "x", Effect: NoExecute}}, spec: PodSpec{Tolerations: []Toleration{{Key: "gpu", Exists: true}}}},
		"both":             {reason: "labels and taints have to admit it", taints: []Taint{gpu}, spec: PodSpec{NodeSelector: map[string]string{"zone": "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			n := Node{Labels: map[string]string{"zone": "a"}, Taints: tc.taints}
			if got := n.Admits(&tc.spec); got != tc.want {
				t.Errorf("%s: admitted %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
