package nodeclass

import (
	"errors"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// conditions sets the conditions of one class at one time.
type conditions struct {
	list       *[]metav1.Condition
	generation int64
	now        time.Time
}

func (c *conditions) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(c.list, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.generation, LastTransitionTime: metav1.NewTime(c.now),
	})
}

// settle turns the outcome of a step into its condition. What could not be
// found out for now leaves a condition of this generation as it was, and is
// handed back.
func (c *conditions) settle(kind string, err error) error {
	var short *lack
	switch {
	case err == nil:
		c.set(kind, metav1.ConditionTrue, kind, "")
		return nil
	case errors.As(err, &short):
		c.set(kind, metav1.ConditionFalse, short.reason, short.message)
		return nil
	case provider.KindOf(err).Definitive():
		c.set(kind, metav1.ConditionFalse, string(provider.KindOf(err)), err.Error())
		return nil
	}
	if last := meta.FindStatusCondition(*c.list, kind); last == nil || last.ObservedGeneration != c.generation {
		c.set(kind, metav1.ConditionUnknown, string(provider.KindOf(err)), err.Error())
	}
	return err
}

// summarize sets Ready: true when all parts are, else false with what is wrong
// with each, unknown while none is known to be wrong.
func (c *conditions) summarize(parts []string) {
	var wrong, open []string
	for _, kind := range slices.Sorted(slices.Values(parts)) {
		part := meta.FindStatusCondition(*c.list, kind)
		switch {
		case part == nil:
			open = append(open, kind)
		case part.Status == metav1.ConditionFalse:
			wrong = append(wrong, kind+": "+part.Message)
		case part.Status != metav1.ConditionTrue:
			open = append(open, kind+": "+part.Message)
		}
	}
	switch {
	case len(wrong) > 0:
		c.set(awsv1.ConditionReady, metav1.ConditionFalse, "UnhealthyDependents", strings.Join(wrong, "; "))
	case len(open) > 0:
		c.set(awsv1.ConditionReady, metav1.ConditionUnknown, "ReconcilingDependents", strings.Join(open, "; "))
	default:
		c.set(awsv1.ConditionReady, metav1.ConditionTrue, awsv1.ConditionReady, "")
	}
}
