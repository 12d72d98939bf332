package model

import (
	"slices"
	"strconv"
)

// Operator relates a label key to values, as in Kubernetes node selectors and
// Karpenter's NodePool requirements.
type Operator string

// The operators of node selectors, and Gte and Lte of NodePools.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
	Gte          Operator = "Gte"
	Lte          Operator = "Lte"
)

// Requirement is one condition on a node label.
type Requirement struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
	// MinValues is how many different values of the key the options of a launched
	// node must have; 0 for no such requirement.
	MinValues int `json:"minValues,omitempty"`
}

// Term is a list of requirements that must all hold.
type Term []Requirement

// WeightedTerm is a preferred term and its weight, 1 to 100.
type WeightedTerm struct {
	Weight int32 `json:"weight"`
	Term   Term  `json:"term"`
}

// TaintEffect says what a taint does to pods that do not tolerate it.
type TaintEffect string

// The taint effects of Kubernetes.
const (
	NoSchedule       TaintEffect = "NoSchedule"
	PreferNoSchedule TaintEffect = "PreferNoSchedule"
	NoExecute        TaintEffect = "NoExecute"
)

// NoPlacement is the effect of a taint that no real node has: a simulation gives it to nodes
// to which it moves no pods. It keeps pods off as NoSchedule does, and whether a spread
// constraint counts the node does not depend on it.
const NoPlacement TaintEffect = "NoPlacement"

// Taint is a node taint.
type Taint struct {
	Key    string      `json:"key"`
	Value  string      `json:"value,omitempty"`
	Effect TaintEffect `json:"effect"`
}

// Toleration lets a pod run on nodes with matching taints. An empty Key with
// Exists matches every taint, an empty Effect every effect.
type Toleration struct {
	Key string `json:"key,omitempty"`
	// Exists is true for operator Exists. Compare is Gt or Lt when the taint's value
	// must be an integer greater or less than Value (Kubernetes'
	// TaintTolerationComparisonOperators). Otherwise the values must be equal.
	Exists  bool        `json:"exists,omitempty"`
	Compare Operator    `json:"compare,omitempty"`
	Value   string      `json:"value,omitempty"`
	Effect  TaintEffect `json:"effect,omitempty"`
}

// Matches reports whether the toleration applies to the taint.
func (o *Toleration) Matches(t *Taint) bool {
	switch {
	case o.Effect != "" && o.Effect != t.Effect, o.Key != "" && o.Key != t.Key:
		return false
	case o.Exists:
		return true
	case o.Key == "":
		return false
	case o.Compare == "":
		return o.Value == t.Value
	}
	if !decimal(o.Value) || !decimal(t.Value) {
		return false
	}
	r := Requirement{Operator: o.Compare, Values: []string{o.Value}}
	return r.Matches(t.Value, true)
}

// decimal reports whether a text is an integer as Kubernetes writes it: without a
// plus sign and leading zeros.
func decimal(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

// HostPort is a port that a pod uses on its node. IP "" means 0.0.0.0, every address
// of the node.
type HostPort struct {
	IP       string `json:"ip,omitempty"`
	Protocol string `json:"protocol"`
	Port     int32  `json:"port"`
}

// Matches reports whether a label with the given value, or its absence, meets the
// requirement. NotIn and DoesNotExist hold for an absent label, as in Kubernetes.
// Gt, Lt, Gte and Lte compare integers and do not hold for other values.
func (r *Requirement) Matches(value string, present bool) bool {
	switch r.Operator {
	case In:
		return present && slices.Contains(r.Values, value)
	case NotIn:
		return !present || !slices.Contains(r.Values, value)
	case Exists:
		return present
	case DoesNotExist:
		return !present
	case Gt:
		return present && r.compare(value, func(have, bound int64) bool { return have > bound })
	case Lt:
		return present && r.compare(value, func(have, bound int64) bool { return have < bound })
	case Gte:
		return present && r.compare(value, func(have, bound int64) bool { return have >= bound })
	case Lte:
		return present && r.compare(value, func(have, bound int64) bool { return have <= bound })
	}
	return false
}

// compare compares the label's integer with the requirement's only value.
func (r *Requirement) compare(label string, holds func(have, bound int64) bool) bool {
	if len(r.Values) != 1 {
		return false
	}
	have, err := strconv.ParseInt(label, 10, 64)
	if err != nil {
		return false
	}
	bound, err := strconv.ParseInt(r.Values[0], 10, 64)
	return err == nil && holds(have, bound)
}
