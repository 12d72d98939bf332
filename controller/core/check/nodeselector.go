package check

import (
	"math/big"

	"spokeshave.dev/controller/core/model"
)

// hostnameKey is the label whose value is different on every node.
const hostnameKey = "kubernetes.io/hostname"

// labelView is the labels of a node as the scheduler will read them.
type labelView struct {
	values map[string]string
	// unnamed marks a node that does not exist yet: it will have a hostname
	// label, and nobody can know its value.
	unnamed bool
}

// meetsExpression evaluates one match expression (Assigning Pods to Nodes, "Operators"):
// NotIn and DoesNotExist also hold where the label is absent, Gt and Lt compare
// integers and hold for nothing else.
func (l *labelView) meetsExpression(r *model.Requirement) bool {
	value, present := l.values[r.Key]
	if r.Key == hostnameKey && l.unnamed {
		return r.Operator == model.Exists || r.Operator == model.NotIn
	}
	listed := false
	for _, v := range r.Values {
		listed = listed || present && v == value
	}
	switch r.Operator {
	case model.In:
		return listed
	case model.NotIn:
		return !listed
	case model.Exists:
		return present
	case model.DoesNotExist:
		return !present
	case model.Gt, model.Lt, model.Gte, model.Lte:
		return present && len(r.Values) == 1 && integersRelate(value, r.Operator, r.Values[0])
	}
	return false
}

// integersRelate evaluates "x operator y" for integers of any size.
func integersRelate(x string, operator model.Operator, y string) bool {
	a, ok1 := new(big.Int).SetString(x, 10)
	b, ok2 := new(big.Int).SetString(y, 10)
	if !ok1 || !ok2 {
		return false
	}
	switch sign := a.Cmp(b); operator {
	case model.Gt:
		return sign > 0
	case model.Lt:
		return sign < 0
	case model.Gte:
		return sign >= 0
	case model.Lte:
		return sign <= 0
	case model.In, model.NotIn, model.Exists, model.DoesNotExist: // relate no integers
	}
	return false
}

// eligibleFor says whether a node with these labels meets a pod's nodeSelector and
// required node affinity (Assigning Pods to Nodes, "Node affinity"): both must
// hold, one of the affinity's terms is enough, all expressions of a term must
// hold, and a term without expressions matches no node.
func (l *labelView) eligibleFor(nodeSelector map[string]string, terms []model.Term) bool {
	for key, value := range nodeSelector {
		if of, present := l.values[key]; !present || of != value || key == hostnameKey && l.unnamed {
			return false
		}
	}
	for _, term := range terms {
		holds := len(term) > 0
		for i := range term {
			holds = holds && l.meetsExpression(&term[i])
		}
		if holds {
			return true
		}
	}
	return len(terms) == 0
}

// selectedBy says whether the node is one that the pod may run on by its labels.
func (l *labelView) selectedBy(pod *model.PodSpec) bool {
	return l.eligibleFor(pod.NodeSelector, pod.Affinity)
}
