package lower

import (
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// hostnamesByNode maps node names to the nodes' host names.
func hostnamesByNode(nodes []*corev1.Node) map[string]string {
	out := make(map[string]string, len(nodes))
	for _, n := range nodes {
		if host := n.Labels[corev1.LabelHostname]; host != "" {
			out[n.Name] = host
		}
	}
	return out
}

// nodeSelectorTerms lowers a required node selector to terms of which one must hold; nil
// means no restriction. A selector none of whose terms can hold becomes one empty term, which
// matches no node. A node that is selected by name is selected by its host name
// instead; new nodes have neither yet. fields reports that a term selects another node
// field than metadata.name; such a term is left out.
func (s *podLowerer) nodeSelectorTerms(sel *corev1.NodeSelector) (terms []model.Term, fields bool) {
	if sel == nil {
		return nil, false
	}
	for i := range sel.NodeSelectorTerms {
		t := &sel.NodeSelectorTerms[i]
		names, ok := s.nameTerm(t.MatchFields)
		if !ok {
			fields = true
			continue
		}
		if len(t.MatchExpressions)+len(names) > 0 {
			terms = append(terms, append(termOf(t.MatchExpressions), names...))
		}
	}
	if terms == nil {
		terms = []model.Term{{}}
	}
	return terms, fields
}

// nameTerm lowers requirements on metadata.name, the only field by which the API lets pods
// select nodes. ok is false when one is on another field.
func (s *podLowerer) nameTerm(in []corev1.NodeSelectorRequirement) (out model.Term, ok bool) {
	for i := range in {
		if in[i].Key != "metadata.name" {
			return nil, false
		}
		r := model.Requirement{Key: corev1.LabelHostname, Operator: model.Operator(in[i].Operator)}
		for _, name := range in[i].Values {
			if host, known := s.hostnames[name]; known {
				name = host
			}
			r.Values = append(r.Values, name)
		}
		out = append(out, r)
	}
	return out, true
}

func preferredTerms(in []corev1.PreferredSchedulingTerm) []model.WeightedTerm {
	var out []model.WeightedTerm
	for i := range in {
		if p := &in[i]; len(p.Preference.MatchExpressions) > 0 && len(p.Preference.MatchFields) == 0 {
			out = append(out, model.WeightedTerm{Weight: p.Weight, Term: termOf(p.Preference.MatchExpressions)})
		}
	}
	return out
}

func termOf(in []corev1.NodeSelectorRequirement) model.Term {
	out := make(model.Term, 0, len(in))
	for i := range in {
		out = append(out, model.Requirement{
			Key: normalize(in[i].Key), Operator: model.Operator(in[i].Operator), Values: in[i].Values,
		})
	}
	return out
}

// maxTerms is the largest number of terms that conjunction returns.
const maxTerms = 64

// conjunction returns the conjunction of two lists of alternatives; nil is no restriction. ok
// is false, and a is returned, when the result would exceed maxTerms.
func conjunction(a, b []model.Term) (out []model.Term, ok bool) {
	if a == nil {
		return b, true
	}
	if b == nil {
		return a, true
	}
	if len(a)*len(b) > maxTerms {
		return a, false
	}
	for _, left := range a {
		for _, right := range b {
			if len(left) == 0 || len(right) == 0 {
				continue // an empty term matches nothing
			}
			joined := make(model.Term, 0, len(left)+len(right))
			out = append(out, append(append(joined, left...), right...))
		}
	}
	if out == nil {
		out = []model.Term{{}}
	}
	return out, true
}
