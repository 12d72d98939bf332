package v1

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// NodePoolHashVersion goes into AnnotationNodePoolHashVersion. It is our own,
// so that Karpenter's hashes and ours are never compared: a claim stamped with
// another version is stamped anew instead of being called drifted, in both
// directions of a migration. Bump it whenever the input of Hash changes.
const NodePoolHashVersion = "spokeshave-v1"

// Hash digests the fields of the template that make a node drift when they
// change: labels, annotations, taints, startupTaints, nodeClassRef,
// terminationGracePeriod and expireAfter. Requirements are compared with the
// node itself and stay out. The order of taints and the spelling of durations
// do not matter.
//
// The value is not the one Karpenter computes under its version v3; reproducing
// that is work of its own.
func (p *NodePool) Hash() string {
	spec := p.Spec.Template.Spec
	static := struct {
		Metadata               TemplateMeta
		Taints                 []corev1.Taint
		StartupTaints          []corev1.Taint
		NodeClassRef           NodeClassReference
		TerminationGracePeriod string
		ExpireAfter            string
	}{
		Metadata:      p.Spec.Template.Metadata,
		Taints:        sortedTaints(spec.Taints),
		StartupTaints: sortedTaints(spec.StartupTaints),
		NodeClassRef:  spec.NodeClassRef,
		ExpireAfter:   string(spec.ExpireAfter),
	}
	if spec.TerminationGracePeriod != nil {
		static.TerminationGracePeriod = spec.TerminationGracePeriod.Duration.String()
	}
	if d, ok := spec.ExpireAfter.Duration(); ok {
		static.ExpireAfter = d.String()
	}
	h := fnv.New64a()
	// Strings, maps of strings and times always encode, and a hash never refuses a write.
	_ = json.NewEncoder(h).Encode(static)
	return fmt.Sprint(h.Sum64())
}

func sortedTaints(in []corev1.Taint) []corev1.Taint {
	out := slices.Clone(in)
	slices.SortFunc(out, func(a, b corev1.Taint) int {
		return strings.Compare(a.ToString(), b.ToString())
	})
	return out
}
