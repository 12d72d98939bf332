package app

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/lru"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// templateCount bounds how many different specs, label sets and resource lists
// are remembered for sharing, each. What falls out stays valid for the objects
// that use it.
const templateCount = 2048

// templates gives objects of one template the same slices and maps: the pods of
// a Deployment differ in little more than name and node, and nodes of one
// instance type have the same capacity. Cached objects are never written to, so
// that sharing is safe. It may be used concurrently.
type templates struct {
	specs, labels, owners, lists, requirements *lru.Cache
}

func newTemplates() *templates {
	return &templates{
		specs: lru.New(templateCount), labels: lru.New(templateCount),
		owners: lru.New(templateCount), lists: lru.New(templateCount),
		requirements: lru.New(templateCount),
	}
}

type digest = [sha256.Size]byte

// spec shares everything but the node's name.
func (t *templates) spec(spec *corev1.PodSpec) {
	node := shared(spec.NodeName)
	spec.NodeName = ""
	if text, err := spec.Marshal(); err == nil {
		*spec = one(t.specs, sha256.Sum256(text), *spec)
	}
	spec.NodeName = node
}

func (t *templates) labelSet(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	return one(t.labels, digestOf(in), sharedMap(in))
}

// ownerList shares the references that all pods of a ReplicaSet have.
func (t *templates) ownerList(in []metav1.OwnerReference) []metav1.OwnerReference {
	if len(in) == 0 {
		return nil
	}
	sum := sha256.New()
	for i := range in {
		text, err := in[i].Marshal()
		if err != nil {
			return in
		}
		_, _ = sum.Write(text)
	}
	return one(t.owners, digest(sum.Sum(nil)), in)
}

// resources shares what nodes of one instance type have alike.
func (t *templates) resources(in corev1.ResourceList) corev1.ResourceList {
	if len(in) == 0 {
		return nil
	}
	text := make(map[string]string, len(in))
	for name, q := range in {
		text[string(name)] = q.String()
	}
	return one(t.lists, digestOf(text), in)
}

// requirementList shares what claims of one launch ask for alike: some sixty
// instance types by name.
func (t *templates) requirementList(in []karpv1.Requirement) []karpv1.Requirement {
	text, err := json.Marshal(in)
	if err != nil || len(in) == 0 {
		return in
	}
	return one(t.requirements, sha256.Sum256(text), in)
}

// one is the first value that came with the key.
func one[T any](cache *lru.Cache, key digest, value T) T {
	if found, ok := cache.Get(key); ok {
		if known, ok := found.(T); ok {
			return known
		}
	}
	cache.Add(key, value)
	return value
}

// digestOf separates by zero bytes, which no label and no quantity has.
func digestOf(in map[string]string) digest {
	keys := make([]string, 0, len(in))
	for k := range in {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var text []byte
	for _, k := range keys {
		text = append(append(append(append(text, k...), 0), in[k]...), 0)
	}
	return sha256.Sum256(text)
}
