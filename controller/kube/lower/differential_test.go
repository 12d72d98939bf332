package lower

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	klabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"spokeshave.dev/controller/core/model"
)

// rolled draws labels from a small set, so that matches and misses are both common.
type rolled struct{ *rand.Rand }

func (r rolled) labels() map[string]string {
	out := map[string]string{}
	for _, key := range []string{"a", "b", "c"} {
		if r.IntN(3) > 0 {
			out[key] = fmt.Sprint(r.IntN(3))
		}
	}
	return out
}

func (r rolled) values(n int) []string {
	var out []string
	for range n {
		out = append(out, fmt.Sprint(r.IntN(3)))
	}
	return out
}

func (r rolled) key() string { return string(rune('a' + r.IntN(4))) }

// TestSelectorsAgree: a lowered label selector matches what Kubernetes' own
// does, with the keys to match added as the API server adds them.
func TestSelectorsAgree(t *testing.T) {
	r := rolled{rand.New(rand.NewPCG(1, 2))}
	matched := 0
	for range 5000 {
		sel := &metav1.LabelSelector{}
		if r.IntN(2) == 0 {
			sel.MatchLabels = map[string]string{r.key(): fmt.Sprint(r.IntN(3))}
		}
		for range r.IntN(3) {
			e := metav1.LabelSelectorRequirement{Key: r.key()}
			switch r.IntN(4) {
			case 0:
				e.Operator, e.Values = metav1.LabelSelectorOpIn, r.values(2)
			case 1:
				e.Operator, e.Values = metav1.LabelSelectorOpNotIn, r.values(1)
			case 2:
				e.Operator = metav1.LabelSelectorOpExists
			case 3:
				e.Operator = metav1.LabelSelectorOpDoesNotExist
			}
			sel.MatchExpressions = append(sel.MatchExpressions, e)
		}
		if r.IntN(10) == 0 {
			sel = nil
		}
		theirs, err := metav1.LabelSelectorAsSelector(sel)
		if err != nil {
			t.Fatal(err)
		}
		ours, nothing := requirementsOf(sel)
		on := r.labels()
		want := theirs.Matches(klabels.Set(on))
		if got := !nothing && model.MeetAll(on, ours); got != want {
			t.Fatalf("selector %v on %v: %v, want %v", sel, on, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 500 || matched > 4500 {
		t.Errorf("%d of 5000 match: too one-sided to tell anything", matched)
	}
}

// TestNodeAffinityAgrees: node selector and required node affinity, expressions
// and fields, match what the scheduler's own helper does.
func TestNodeAffinityAgrees(t *testing.T) {
	r := rolled{rand.New(rand.NewPCG(3, 4))}
	operators := []corev1.NodeSelectorOperator{
		corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
		corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
	}
	matched := 0
	for range 5000 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns"}}
		if r.IntN(3) == 0 {
			pod.Spec.NodeSelector = map[string]string{r.key(): fmt.Sprint(r.IntN(3))}
		}
		if r.IntN(4) > 0 {
			sel := &corev1.NodeSelector{}
			for range r.IntN(3) + 1 {
				term := corev1.NodeSelectorTerm{}
				for range r.IntN(3) {
					e := corev1.NodeSelectorRequirement{Key: r.key(), Operator: operators[r.IntN(len(operators))]}
					switch e.Operator {
					case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
						e.Values = r.values(2)
					case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
						e.Values = r.values(1)
					case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
					}
					term.MatchExpressions = append(term.MatchExpressions, e)
				}
				if r.IntN(4) == 0 {
					term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: operators[r.IntN(2)], Values: []string{[]string{"n1", "n2"}[r.IntN(2)]}}}
				}
				sel.NodeSelectorTerms = append(sel.NodeSelectorTerms, term)
			}
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: sel}}
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: r.labels()}}
		node.Labels[corev1.LabelHostname] = "host-1"
		want, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := Build(Inputs{Pods: []*corev1.Pod{pod}, Nodes: []*corev1.Node{node}})
		spec := &s.Specs[0]
		got := len(spec.Affinity) == 0
		for _, term := range spec.Affinity {
			got = got || len(term) > 0 && model.MeetAll(node.Labels, term)
		}
		for key, value := range spec.NodeSelector {
			got = got && node.Labels[key] == value && value != ""
		}
		if got != want {
			t.Fatalf("pod %+v on %v: %v, want %v", pod.Spec, node.Labels, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 500 || matched > 4500 {
		t.Errorf("%d of 5000 match: too one-sided to tell anything", matched)
	}
}

// TestTolerationsAgree: a lowered toleration matches the taints that Kubernetes'
// own does, values that are compared as numbers included.
func TestTolerationsAgree(t *testing.T) {
	r := rolled{rand.New(rand.NewPCG(5, 6))}
	values := []string{"", "x", "0", "-0", "-3", "3", "03", "+3", "12", "9223372036854775808"}
	operators := []corev1.TolerationOperator{"", corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, ""}
	matched := map[corev1.TolerationOperator]int{}
	for range 5000 {
		o := corev1.Toleration{
			Key: []string{"a", "a", "b"}[r.IntN(3)], Operator: operators[r.IntN(len(operators))],
			Value: values[r.IntN(len(values))], Effect: effects[r.IntN(3)],
		}
		if o.Operator == corev1.TolerationOpExists && r.IntN(2) == 0 {
			o.Key = "" // the API server takes no other operator without a key
		}
		taint := corev1.Taint{Key: "a", Value: values[r.IntN(len(values))], Effect: effects[r.IntN(2)]}
		want := o.ToleratesTaint(logr.Discard(), &taint, true)
		got := tolerations([]corev1.Toleration{o})[0]
		if got.Matches(&model.Taint{Key: taint.Key, Value: taint.Value, Effect: model.TaintEffect(taint.Effect)}) != want {
			t.Fatalf("%+v on %+v: want %v", o, taint, want)
		}
		if want {
			matched[o.Operator]++
		}
	}
	for _, op := range operators {
		if matched[op] < 20 {
			t.Errorf("operator %q matched %d times: too few to tell anything", op, matched[op])
		}
	}
}
