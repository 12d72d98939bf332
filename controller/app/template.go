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

// templateCount is how many different specs, label sets, resource lists and so on, each, are
// kept for sharing. Objects that use a dropped one keep it.
const templateCount = 2048

// templates makes equal parts of cached objects share memory: the pods of a Deployment
// differ in little more than name and node, and nodes of one instance type have the
// same capacity. Sharing is safe because cached objects are never written to. It is
// safe for concurrent use.
type templates struct {
	specs, tolerations, labels, owners, lists, requirements *lru.Cache
}

func newTemplates() *templates {
	return &templates{
		specs: lru.New(templateCount), tolerations: lru.New(templateCount),
		labels: lru.New(templateCount), owners: lru.New(templateCount),
		lists: lru.New(templateCount), requirements: lru.New(templateCount),
	}
}

type digest = [sha256.Size]byte

// spec replaces a pod's spec by a shared one, apart from the node's name and the
// tolerations: a pod that waits for a new node tolerates that node's reservation, and no
// other pod does.
func (t *templates) spec(spec *corev1.PodSpec) {
	node, tolerations := shared(spec.NodeName), t.tolerationList(spec.Tolerations)
	spec.NodeName, spec.Tolerations = "", nil
	if text, err := spec.Marshal(); err == nil {
		*spec = getOrAdd(t.specs, sha256.Sum256(text), *spec)
	}
	spec.NodeName, spec.Tolerations = node, tolerations
}

// tolerationList returns a shared list of tolerations; one with a reservation is not worth
// sharing.
func (t *templates) tolerationList(in []corev1.Toleration) []corev1.Toleration {
	if slices.ContainsFunc(in, func(x corev1.Toleration) bool { return x.Key == karpv1.TaintKeyReserved }) {
		return in
	}
	return sharedList(t.tolerations, in)
}

func (t *templates) labelSet(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	return getOrAdd(t.labels, digestOf(in), sharedMap(in))
}

// ownerList returns a shared list of owner references, which all pods of a ReplicaSet
// have.
func (t *templates) ownerList(in []metav1.OwnerReference) []metav1.OwnerReference {
	return sharedList(t.owners, in)
}

// sharedList returns the first list that was stored and equals this one.
func sharedList[T any, P interface {
	*T
	Marshal() ([]byte, error)
}](cache *lru.Cache, in []T) []T {
	if len(in) == 0 {
		return nil
	}
	sum := sha256.New()
	for i := range in {
		text, err := P(&in[i]).Marshal()
		if err != nil {
			return in
		}
		_, _ = sum.Write(text)
	}
	return getOrAdd(cache, digest(sum.Sum(nil)), in)
}

// resources returns a shared resource list, which nodes of one instance type have.
func (t *templates) resources(in corev1.ResourceList) corev1.ResourceList {
	if len(in) == 0 {
		return nil
	}
	text := make(map[string]string, len(in))
	for name, q := range in {
		text[string(name)] = q.String()
	}
	return getOrAdd(t.lists, digestOf(text), in)
}

// requirementList returns a shared list of requirements. Claims of one launch have
// equal ones, with some sixty instance types by name.
func (t *templates) requirementList(in []karpv1.Requirement) []karpv1.Requirement {
	text, err := json.Marshal(in)
	if err != nil || len(in) == 0 {
		return in
	}
	return getOrAdd(t.requirements, sha256.Sum256(text), in)
}

// getOrAdd returns the first value that was stored with the key, and stores this one if
// there is none.
func getOrAdd[T any](cache *lru.Cache, key digest, value T) T {
	if found, ok := cache.Get(key); ok {
		if known, ok := found.(T); ok {
			return known
		}
	}
	cache.Add(key, value)
	return value
}

// digestOf returns a digest of a map. It separates texts by zero bytes, which neither
// labels nor quantities contain.
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
