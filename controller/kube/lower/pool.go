package lower

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// Pool lowers a NodePool. Fields that depend on other objects are left out: Usage,
// Catalog (-1), the node class's readiness and the disruptions allowed now.
func Pool(np *karpv1.NodePool) model.Pool {
	template := &np.Spec.Template
	out := model.Pool{
		Name:          np.Name,
		UID:           string(np.UID),
		Labels:        np.Labels,
		Requirements:  requirements(template.Spec.Requirements),
		NodeLabels:    template.Metadata.Labels,
		Taints:        taints(template.Spec.Taints),
		StartupTaints: taints(template.Spec.StartupTaints),
		NodeClass:     template.Spec.NodeClassRef.Name,
		Catalog:       -1,
		NotReady:      notReady(np),
		Disruption:    disruption(np),
		Replicas:      np.Spec.Replicas,
	}
	if np.Spec.Weight != nil {
		out.Weight = *np.Spec.Weight
	}
	if len(np.Spec.Limits) > 0 {
		out.Limits = quantity.Resources(np.Spec.Limits)
	}
	return out
}

func requirements(in []karpv1.Requirement) []model.Requirement {
	var out []model.Requirement
	for i := range in {
		r := model.Requirement{Key: normalize(in[i].Key), Operator: model.Operator(in[i].Operator), Values: in[i].Values}
		if in[i].MinValues != nil {
			r.MinValues = *in[i].MinValues
		}
		out = append(out, r)
	}
	return out
}

func taints(in []corev1.Taint) []model.Taint {
	var out []model.Taint
	for _, t := range in {
		out = append(out, model.Taint{Key: t.Key, Value: t.Value, Effect: model.TaintEffect(t.Effect)})
	}
	return out
}

// notReady returns why the NodePool itself cannot launch nodes, "" when it can.
func notReady(np *karpv1.NodePool) string {
	switch ref := &np.Spec.Template.Spec.NodeClassRef; {
	case !np.DeletionTimestamp.IsZero():
		return "the NodePool is being deleted"
	case ref.Group != awsv1.Group || ref.Kind != awsv1.Kind:
		return fmt.Sprintf("nodeClassRef names %s.%s: want %s.%s", ref.Kind, ref.Group, awsv1.Kind, awsv1.Group)
	}
	if c := meta.FindStatusCondition(np.Status.Conditions, karpv1.ConditionValidationSucceeded); c != nil && c.Status == metav1.ConditionFalse {
		return "the NodePool is invalid: " + c.Message
	}
	if problems := Problems(np); len(problems) > 0 {
		return problems[0].String()
	}
	if until := np.Annotations[karpv1.AnnotationLaunchesPaused]; until != "" {
		return "launches are paused until " + until
	}
	return ""
}

// Problem is a field whose value cannot be used.
type Problem struct {
	// Path is the field: spec.template.spec.requirements[0].
	Path    string
	Message string
}

// String is "path: message".
func (p Problem) String() string { return p.Path + ": " + p.Message }

// Problems lists what is wrong with a NodePool's spec and its settings in annotations. The API server rejects most of
// it at admission; manifests in files have not been through that.
func Problems(np *karpv1.NodePool) []Problem {
	var out []Problem
	for i := range np.Spec.Template.Spec.Requirements {
		if message := requirementProblem(&np.Spec.Template.Spec.Requirements[i]); message != "" {
			out = append(out, Problem{fmt.Sprintf("spec.template.spec.requirements[%d]", i), message})
		}
	}
	if _, problem := ChosenLabels(np.Spec.Template.Spec.Requirements); problem != "" {
		out = append(out, Problem{"spec.template.spec.requirements", problem})
	}
	for i := range np.Spec.Disruption.Budgets {
		b := &np.Spec.Disruption.Budgets[i]
		if (b.Schedule == nil) != (b.Duration == nil) {
			out = append(out, Problem{fmt.Sprintf("spec.disruption.budgets[%d]", i), "schedule must be set with duration"})
		}
		if b.Schedule != nil {
			if _, err := parseSchedule(*b.Schedule); err != nil {
				out = append(out, Problem{fmt.Sprintf("spec.disruption.budgets[%d].schedule", i), err.Error()})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(np.Spec.Limits)) {
		if q := np.Spec.Limits[name]; q.Sign() < 0 { // what is no amount is read as -1
			out = append(out, Problem{"spec.limits." + string(name), "below zero, or no amount such as 100 or 512Gi"})
		}
	}
	if w := np.Spec.Weight; w != nil && (*w < 1 || *w > 100) {
		out = append(out, Problem{"spec.weight", fmt.Sprintf("%d: want 1 to 100", *w)})
	}
	if _, err := moveCost(np); err != nil {
		out = append(out, Problem{"metadata.annotations[" + karpv1.AnnotationMoveCost + "]", err.Error()})
	}
	if np.Spec.Template.Spec.NodeClassRef.Name == "" {
		out = append(out, Problem{"spec.template.spec.nodeClassRef", "name must be set"})
	}
	return out
}

// requirementProblem returns what is wrong with a requirement, "" when nothing is.
func requirementProblem(r *karpv1.Requirement) string {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 0 {
			return fmt.Sprintf("%s: operator In needs values", r.Key)
		}
		if r.MinValues != nil && len(r.Values) < *r.MinValues {
			return fmt.Sprintf("%s: operator In needs at least minValues (%d) values", r.Key, *r.MinValues)
		}
	case corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			return fmt.Sprintf("%s: operator NotIn needs values", r.Key)
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return fmt.Sprintf("%s: operator %s takes no values", r.Key, r.Operator)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, karpv1.NodeSelectorOpGte, karpv1.NodeSelectorOpLte:
		if len(r.Values) != 1 {
			return fmt.Sprintf("%s: operator %s needs one value", r.Key, r.Operator)
		}
		if n, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil || n < 0 {
			return fmt.Sprintf("%s: operator %s needs an integer that is not negative, not %q", r.Key, r.Operator, r.Values[0])
		}
	default:
		return fmt.Sprintf("%s: unknown operator %q", r.Key, r.Operator)
	}
	if r.Key == "" {
		return "key must be set"
	}
	return ""
}

func disruption(np *karpv1.NodePool) model.Disruption {
	d := disruptionDefaulted(np)
	after, ok := d.ConsolidateAfter.Duration()
	cost, _ := moveCost(np) // Problems has its error
	return model.Disruption{ConsolidateAfter: after, Never: !ok, Policy: string(d.ConsolidationPolicy), MoveCost: cost}
}

// disruptionDefaulted returns the pool's disruption settings with the defaults that the
// API server would set. It does not change the pool.
func disruptionDefaulted(np *karpv1.NodePool) *karpv1.Disruption {
	out := karpv1.NodePool{Spec: karpv1.NodePoolSpec{Disruption: np.Spec.Disruption}}
	out.Spec.Disruption.Budgets = slices.Clone(np.Spec.Disruption.Budgets)
	out.SetDefaults()
	return &out.Spec.Disruption
}
