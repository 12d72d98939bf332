package app

import (
	"crypto/sha256"
	"encoding/json"
	"runtime"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// templates makes equal parts of cached objects share memory: the pods of a Deployment
// differ in little more than name and node, and nodes of one instance type have the
// same capacity. A part is known for as long as an object that uses it lives, so that parts of
// objects that are gone leave nothing. Sharing is safe because cached objects are never written
// to. It is safe for concurrent use.
type templates struct {
	mu    sync.Mutex
	known map[templateKey]*template
}

// templateKey tells parts apart by what they are of an object and by their content.
type templateKey struct {
	kind templateKind
	sum  digest
}

type templateKind int8

const (
	podSpec templateKind = iota
	tolerations
	podLabels
	owners
	resourceList
	requirements
)

// template is a part of at least one object. users is how many objects use it that have not
// been collected as garbage.
type template struct {
	key   templateKey
	value any
	users int
}

func newTemplates() *templates { return &templates{known: map[templateKey]*template{}} }

// uses are the templates of one object: the first n of held. Nothing has more than a pod, which
// has four.
type uses struct {
	of   *templates
	held [4]*template
	n    int
}

// endWith ends the uses of an object's templates when the object is collected.
func endWith[T any](object *T, u *uses) {
	if u.n > 0 {
		runtime.AddCleanup(object, u.of.release, u.held)
	}
}

// release ends the uses of the templates of one object.
func (t *templates) release(held [4]*template) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range held {
		if each == nil {
			break
		}
		if each.users--; each.users == 0 {
			delete(t.known, each.key)
		}
	}
}

type digest = [sha256.Size]byte

// spec replaces a pod's spec by a shared one, apart from the node's name and the
// tolerations: a pod that waits for a new node tolerates that node's reservation, and no
// other pod does.
func (u *uses) spec(spec *corev1.PodSpec) {
	node, tolerated := shared(spec.NodeName), u.tolerationList(spec.Tolerations)
	spec.NodeName, spec.Tolerations = "", nil
	if text, err := spec.Marshal(); err == nil {
		*spec = getOrAdd(u, podSpec, sha256.Sum256(text), *spec)
	}
	spec.NodeName, spec.Tolerations = node, tolerated
}

// tolerationList returns a shared list of tolerations; one with a reservation is not worth
// sharing.
func (u *uses) tolerationList(in []corev1.Toleration) []corev1.Toleration {
	if slices.ContainsFunc(in, func(x corev1.Toleration) bool { return x.Key == karpv1.TaintKeyReserved }) {
		return in
	}
	return sharedList(u, tolerations, in)
}

func (u *uses) labelSet(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	return getOrAdd(u, podLabels, digestOf(in), sharedMap(in))
}

// ownerList returns a shared list of owner references, which all pods of a ReplicaSet
// have.
func (u *uses) ownerList(in []metav1.OwnerReference) []metav1.OwnerReference {
	return sharedList(u, owners, in)
}

// sharedList returns the first list that was stored and equals this one.
func sharedList[T any, P interface {
	*T
	Marshal() ([]byte, error)
}](u *uses, kind templateKind, in []T) []T {
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
	return getOrAdd(u, kind, digest(sum.Sum(nil)), in)
}

// sharedResources returns a shared resource list, which nodes of one instance type have.
func sharedResources[List ~map[corev1.ResourceName]resource.Quantity](u *uses, in List) List {
	if len(in) == 0 {
		return nil
	}
	text := make(map[string]string, len(in))
	for name, q := range in {
		text[string(name)] = q.String()
	}
	return getOrAdd(u, resourceList, digestOf(text), in)
}

// requirementList returns a shared list of requirements. Claims of one launch have
// equal ones, with some sixty instance types by name.
func (u *uses) requirementList(in []karpv1.Requirement) []karpv1.Requirement {
	text, err := json.Marshal(in)
	if err != nil || len(in) == 0 {
		return in
	}
	return getOrAdd(u, requirements, sha256.Sum256(text), in)
}

// getOrAdd returns the value that is known by the key, or else makes this one known.
func getOrAdd[T any](u *uses, kind templateKind, sum digest, value T) T {
	key := templateKey{kind, sum}
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	found := u.of.known[key]
	if found == nil {
		found = &template{key: key, value: value}
		u.of.known[key] = found
	}
	same, ok := found.value.(T)
	if !ok {
		return value
	}
	found.users++
	u.held[u.n] = found
	u.n++
	return same
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
