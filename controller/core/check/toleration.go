package check

import (
	"math/big"

	"spokeshave.dev/controller/core/model"
)

// untoleratedBy is the first taint that keeps a pod off a node, nil when there
// is none (Taints and Tolerations, "Concepts"). PreferNoSchedule keeps nothing off.
func untoleratedBy(pod *model.PodSpec, taints []model.Taint) *model.Taint {
	for i := range taints {
		t := &taints[i]
		if t.Effect != model.NoSchedule && t.Effect != model.NoExecute && t.Effect != model.NoPlacement {
			continue
		}
		tolerated := false
		for j := range pod.Tolerations {
			tolerated = tolerated || answersTaint(&pod.Tolerations[j], t)
		}
		if !tolerated {
			return t
		}
	}
	return nil
}

// answersTaint says whether a toleration matches a taint: the same key, or no key
// and operator Exists; the same effect, or none; and the same value, or operator
// Exists, or a taint value that compares as Gt or Lt ask.
func answersTaint(o *model.Toleration, t *model.Taint) bool {
	if o.Effect != "" && o.Effect != t.Effect {
		return false
	}
	if o.Key != t.Key && (o.Key != "" || !o.Exists) {
		return false
	}
	switch {
	case o.Exists:
		return true
	case o.Compare != "":
		return canonicalInteger(o.Value) && canonicalInteger(t.Value) && integersRelate(t.Value, o.Compare, o.Value)
	}
	return o.Value == t.Value
}

// canonicalInteger says whether a text is an integer of 64 bits in the only
// form that taint comparison accepts: no plus sign, no leading zeros.
func canonicalInteger(text string) bool {
	n, ok := new(big.Int).SetString(text, 10)
	return ok && n.IsInt64() && n.String() == text
}
