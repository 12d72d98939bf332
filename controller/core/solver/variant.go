package solver

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// variant is a spec whose first preferences, as many as lost says, are given up.
type variant struct{ spec, lost int32 }

// variants makes the specs of pods whose preferences count as requirements.
type variants struct {
	// from are the snapshot's specs, which at maps to specs of the question.
	from []model.PodSpec
	at   map[variant]int32
	// specs are those of the question, required the same without their preferences as
	// requirements.
	specs, required []model.PodSpec
	// marks has the label of every preference about other pods that some pod has given up.
	//
	// Such a pod is not counted by the preference, so that it may go where a pod is that
	// still has it. Otherwise the last pods of a Deployment that prefers a zone for each of
	// them could go nowhere, and all others would have to give the preference up with them.
	marks map[string]bool
}

// noteGivenUp finds the preferences that pods have given up.
func (v *variants) noteGivenUp(in *Input, p *preferences) {
	v.marks = map[string]bool{}
	seen := map[variant]bool{}
	for _, i := range in.Pods {
		x := variant{in.Snapshot.Pods[i].Spec, p.lost[i]}
		if x.lost == 0 || seen[x] {
			continue
		}
		seen[x] = true
		for _, w := range p.bySpec[x.spec][:x.lost] {
			if label := mark(&v.from[x.spec], w); label != "" {
				v.marks[label] = true
			}
		}
	}
}

// mark returns the key of the label that pods get which have given up a preference to
// keep away from others; "" for other preferences. Keys of Kubernetes have no spaces.
func mark(s *model.PodSpec, w preference) string {
	switch w.kind {
	case preferAntiAffinity:
		return "not apart by " + counted(s.PreferredApart[w.at].Term.Key, &s.PreferredApart[w.at].Term.Selector)
	case preferSpread:
		return "not spread by " + counted(s.Spread[w.at].Key, &s.Spread[w.at].Selector)
	case preferAffinity, preferNode, preferEvenSpread, preferUntainted:
	}
	return ""
}

// counted returns a text that identifies what a term counts.
func counted(key string, s *model.PodSelector) string {
	b := append([]byte(key), 0)
	for _, namespace := range s.Namespaces {
		b = append(append(b, namespace...), 1)
	}
	for i := range s.Labels {
		b = append(append(append(append(b, s.Labels[i].Key...), 2), s.Labels[i].Operator...), 3)
		for _, v := range s.Labels[i].Values {
			b = append(append(b, v...), 4)
		}
	}
	if s.Nothing {
		b = append(b, 5)
	}
	return string(b)
}

// spec returns the index of a variant. list are the preferences of its spec.
func (v *variants) spec(x variant, list []preference) int32 {
	at, ok := v.at[x]
	if !ok {
		at = int32(len(v.specs))
		v.at[x] = at
		v.specs = append(v.specs, v.require(&v.from[x.spec], list[x.lost:], list[:x.lost]))
		v.required = append(v.required, v.from[x.spec])
	}
	return at
}

// require returns the spec with the preferences in force as requirements. Of its
// preferred node terms only the heaviest counts, the first in the list.
func (v *variants) require(from *model.PodSpec, inForce, lost []preference) model.PodSpec {
	s := *from
	removePreferences(&s)
	s.Spread = slices.Clip(s.Spread)
	node := false
	for _, w := range inForce {
		switch w.kind {
		case preferAffinity:
			s.PreferredPods = append(s.PreferredPods, from.PreferredPods[w.at])
		case preferAntiAffinity:
			t := from.PreferredApart[w.at]
			t.Term.Selector = v.unmarked(t.Term.Selector, from, w)
			s.PreferredApart = append(s.PreferredApart, t)
		case preferNode:
			if !node {
				s.Affinity = both(s.Affinity, from.Preferred[w.at].Term)
			}
			node = true
		case preferSpread:
			sp := from.Spread[w.at]
			sp.Soft = false
			sp.Selector = v.unmarked(sp.Selector, from, w)
			s.Spread = append(s.Spread, sp)
		case preferEvenSpread:
			if slices.Contains(lost, preference{preferSpread, 0, w.at}) {
				s.Spread = append(s.Spread, from.Spread[w.at])
			}
		case preferUntainted:
			s.Tolerations = append(slices.Clip(s.Tolerations), model.Toleration{Key: constraint.AvoidSoftTaints, Effect: model.PreferNoSchedule})
		}
	}
	for _, w := range lost {
		s.Labels = withLabel(s.Labels, mark(from, w))
	}
	return s
}

// withLabel returns the labels with one more; the same labels for "".
func withLabel(labels map[string]string, key string) map[string]string {
	if key == "" {
		return labels
	}
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	out[key] = ""
	return out
}

// unmarked returns the selector of a preference without the pods that have given the
// preference up.
func (v *variants) unmarked(s model.PodSelector, from *model.PodSpec, w preference) model.PodSelector {
	if len(v.marks) == 0 {
		return s
	}
	if label := mark(from, w); v.marks[label] {
		s.Labels = append(slices.Clip(s.Labels), model.Requirement{Key: label, Operator: model.DoesNotExist})
	}
	return s
}
