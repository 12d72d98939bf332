package lower

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestProtected: how long karpenter.sh/do-not-disrupt protects a pod. The pod was
// created at noon; if it has started, it did so ten minutes later.
func TestProtected(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		value   string
		waiting bool
		after   time.Duration // since noon
		want    bool
	}{
		"true":             {reason: "for ever", value: "true", after: 1000 * time.Hour, want: true},
		"false":            {reason: "not at all", value: "false"},
		"True":             {reason: "values are lower case", value: "True"},
		"empty":            {reason: "a value that says nothing", value: ""},
		"nonsense":         {reason: "a word is no duration", value: "a while"},
		"negative":         {reason: "no duration goes backwards", value: "-1h"},
		"within":           {reason: "30 minutes from the start, not from the creation", value: "30m", after: 39 * time.Minute, want: true},
		"over":             {reason: "at its end it is over", value: "30m", after: 40 * time.Minute},
		"not started":      {reason: "what has not started counts from its creation", value: "30m", waiting: true, after: 29 * time.Minute, want: true},
		"never started":    {reason: "and does not hold for ever", value: "30m", waiting: true, after: 30 * time.Minute},
		"several units":    {reason: "a duration as Go writes them", value: "1h30m", after: 99 * time.Minute, want: true},
		"days are no unit": {reason: "as in Go", value: "1d"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "web", UID: "web", CreationTimestamp: metav1.NewTime(noon),
				Annotations: map[string]string{karpv1.AnnotationDoNotDisrupt: tc.value},
			}}
			pod.Spec.NodeName, pod.Status.Phase = "n", corev1.PodRunning
			if !tc.waiting {
				pod.Status.StartTime = &metav1.Time{Time: noon.Add(10 * time.Minute)}
			}
			now := noon.Add(tc.after)
			if got := IsProtected(pod, now); got != tc.want {
				t.Errorf("%s: a drain sees %t", tc.reason, got)
			}
			s, _ := Build(Inputs{Time: now, Nodes: []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n"}}}, Pods: []*corev1.Pod{pod}})
			if len(s.Pods) != 1 || s.Pods[0].DoNotDisrupt != tc.want {
				t.Errorf("%s: a decision sees %+v", tc.reason, s.Pods)
			}
			if timed := tc.want && tc.value != "true"; timed != s.Pods[0].HeldUntil.After(now) || !timed && !s.Pods[0].HeldUntil.IsZero() {
				t.Errorf("%s: a decision sees it held until %s", tc.reason, s.Pods[0].HeldUntil)
			}
		})
	}
}
