package lower

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// noProvisioner is the provisioner of storage classes whose volumes are created by
// hand.
// https://kubernetes.io/docs/concepts/storage/storage-classes/#local
const noProvisioner = "kubernetes.io/no-provisioner"

// staticVolumes are the volumes of storage classes without a provisioner.
type staticVolumes struct {
	// byClass holds the volumes by class, sorted by name; kept holds the claims, by
	// namespace/name, for which a volume is reserved.
	byClass map[string][]*corev1.PersistentVolume
	claimed map[string]bool
	// cache caches where the unreserved volumes are that a claim can be bound to, by
	// the claim's class and spec: all claims of a StatefulSet have the same.
	cache map[string]volumeTopology
}

// volumeTopology says where the volumes are that a claim can be bound to. anywhere says
// that one of them can be used on any node.
type volumeTopology struct {
	terms    []model.Term
	anywhere bool
}

func newStaticVolumes(in *Inputs) staticVolumes {
	s := staticVolumes{byClass: map[string][]*corev1.PersistentVolume{}, claimed: map[string]bool{}, cache: map[string]volumeTopology{}}
	for _, c := range in.StorageClasses {
		if c.Provisioner == noProvisioner {
			s.byClass[c.Name] = []*corev1.PersistentVolume{}
		}
	}
	for _, p := range in.Volumes {
		if all, ok := s.byClass[p.Spec.StorageClassName]; ok {
			s.byClass[p.Spec.StorageClassName] = append(all, p)
			if ref := p.Spec.ClaimRef; ref != nil {
				s.claimed[ref.Namespace+"/"+ref.Name] = true
			}
		}
	}
	for _, all := range s.byClass {
		slices.SortFunc(all, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	}
	return s
}

// termsFor returns where the volumes are that a claim of the class can be bound to.
func (s *staticVolumes) termsFor(key, class string, spec *corev1.PersistentVolumeClaimSpec) (terms []model.Term, anywhere bool) {
	if s.claimed[key] {
		out := s.find(key, class, spec)
		return out.terms, out.anywhere
	}
	asks := *spec
	asks.StorageClassName = &class
	raw, err := asks.Marshal()
	if out, ok := s.cache[string(raw)]; ok && err == nil {
		return out.terms, out.anywhere
	}
	out := s.find(key, class, spec)
	if err == nil && s.cache != nil {
		s.cache[string(raw)] = out
	}
	return out.terms, out.anywhere
}

func (s *staticVolumes) find(key, class string, spec *corev1.PersistentVolumeClaimSpec) (out volumeTopology) {
	for _, p := range s.byClass[class] {
		if !satisfies(p, key, spec) {
			continue
		}
		if p.Spec.NodeAffinity == nil {
			return volumeTopology{anywhere: true}
		}
		if where, fields := (&podLowerer{}).nodeSelectorTerms(p.Spec.NodeAffinity.Required); !fields {
			for _, t := range where {
				out.add(t)
			}
		}
	}
	for _, t := range out.terms {
		if isSingleIn(t) {
			slices.Sort(t[0].Values)
			t[0].Values = slices.Compact(t[0].Values)
		}
	}
	return out
}

// add adds an alternative. Alternatives on the same single label become one term with
// all their values, since otherwise there may be more terms than conjunction can combine:
// nearly all such volumes name one node and nothing else.
func (f *volumeTopology) add(t model.Term) {
	if !isSingleIn(t) {
		f.terms = append(f.terms, t)
		return
	}
	at := slices.IndexFunc(f.terms, func(other model.Term) bool { return isSingleIn(other) && other[0].Key == t[0].Key })
	if at < 0 {
		at = len(f.terms)
		f.terms = append(f.terms, model.Term{{Key: t[0].Key, Operator: model.In}})
	}
	f.terms[at][0].Values = append(f.terms[at][0].Values, t[0].Values...)
}

// isSingleIn reports whether a term only requires that a label has one of some values.
func isSingleIn(t model.Term) bool { return len(t) == 1 && t[0].Operator == model.In }

// satisfies reports whether the claim can be bound to the volume.
// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#persistentvolumeclaims
func satisfies(p *corev1.PersistentVolume, key string, spec *corev1.PersistentVolumeClaimSpec) bool {
	if ref := p.Spec.ClaimRef; ref != nil && ref.Namespace+"/"+ref.Name != key {
		return false
	}
	for _, mode := range spec.AccessModes {
		if !slices.Contains(p.Spec.AccessModes, mode) {
			return false
		}
	}
	if wanted, all := requirementsOf(spec.Selector); !all && !model.MeetAll(p.Labels, wanted) {
		return false
	}
	bytes := func(list corev1.ResourceList) int64 {
		return quantity.Amount(string(corev1.ResourceStorage), list[corev1.ResourceStorage])
	}
	return isBlock(p.Spec.VolumeMode) == isBlock(spec.VolumeMode) && bytes(p.Spec.Capacity) >= bytes(spec.Resources.Requests)
}

// isBlock reports whether a volume is used as a block device. The default, nil, is a file
// system.
func isBlock(mode *corev1.PersistentVolumeMode) bool {
	return mode != nil && *mode == corev1.PersistentVolumeBlock
}
