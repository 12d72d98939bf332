package lower

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// interner gives equal pods one PodSpec. It compares pods by an encoding of their raw
// fields, which is much cheaper than lowering every pod.
type interner struct {
	lowerer *podLowerer
	cache   *SpecCache
	specs   []model.PodSpec
	index   map[string]*internedSpec
	round   uint64
	key     []byte
	names   []string
}

// internedSpec is the entry for all pods with equal specs: their encoding (key), and the index
// of the spec in the snapshot of Build number round.
type internedSpec struct {
	key   string
	spec  int32
	round uint64
}

func newInterner(lowerer *podLowerer, cache *SpecCache) *interner {
	x := &interner{lowerer: lowerer, cache: cache, index: map[string]*internedSpec{}, round: 1}
	if cache != nil {
		x.round = cache.round
	}
	return x
}

// spec returns the index of the pod's spec, and adds the spec when it is new.
func (x *interner) spec(pod *corev1.Pod) int32 {
	if k := x.cache.get(pod); k != nil {
		x.refresh(pod, k)
		return k.spec
	}
	x.key = x.key[:0]
	x.encode(pod)
	k, ok := x.index[string(x.key)]
	if !ok {
		k = &internedSpec{key: string(x.key)}
		x.add(pod, k)
	}
	x.cache.put(pod, k)
	return k.spec
}

// refresh updates an entry that an earlier Build made to the index of its spec in this
// Build.
func (x *interner) refresh(pod *corev1.Pod, k *internedSpec) {
	if k.round == x.round {
		return
	}
	if same, ok := x.index[k.key]; ok {
		k.spec, k.round = same.spec, x.round
		return
	}
	x.add(pod, k)
}

func (x *interner) add(pod *corev1.Pod, k *internedSpec) {
	k.spec, k.round = int32(len(x.specs)), x.round
	x.specs = append(x.specs, x.lowerer.podSpec(pod))
	x.index[k.key] = k
}

func (x *interner) text(s string) {
	x.key = binary.AppendUvarint(x.key, uint64(len(s)))
	x.key = append(x.key, s...)
}

func (x *interner) number(n int64) { x.key = binary.AppendVarint(x.key, n) }

// flags writes up to eight booleans as one byte.
func (x *interner) flags(set ...bool) {
	var b byte
	for i, on := range set {
		if on {
			b |= 1 << i
		}
	}
	x.key = append(x.key, b)
}

func (x *interner) labels(m map[string]string, skip func(string) bool) {
	x.names = x.names[:0]
	for k := range m {
		if !skip(k) {
			x.names = append(x.names, k)
		}
	}
	slices.Sort(x.names)
	x.number(int64(len(x.names)))
	for _, k := range x.names {
		x.text(k)
		x.text(m[k])
	}
}

func (x *interner) resources(list corev1.ResourceList) {
	x.names = x.names[:0]
	for k := range list {
		x.names = append(x.names, string(k))
	}
	slices.Sort(x.names)
	x.number(int64(len(x.names)))
	for _, k := range x.names {
		x.text(k)
		x.number(quantity.Amount(k, list[corev1.ResourceName(k)]))
	}
}

func keepAll(string) bool { return false }

// encode appends every field of the pod that podSpec reads.
func (x *interner) encode(pod *corev1.Pod) {
	spec := &pod.Spec
	x.text(pod.Namespace)
	x.labels(pod.Labels, x.lowerer.droppedLabels.has)
	x.labels(spec.NodeSelector, keepAll)
	x.flags(spec.HostNetwork)
	x.number(int64(len(spec.InitContainers)))
	for i := range spec.InitContainers {
		x.container(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		x.container(&spec.Containers[i])
	}
	x.resources(spec.Overhead)
	x.flags(spec.Resources != nil)
	if spec.Resources != nil {
		x.resources(spec.Resources.Requests)
		x.resources(spec.Resources.Limits)
	}
	x.number(int64(x.lowerer.priority(spec)))
	for i := range spec.Tolerations {
		t := &spec.Tolerations[i]
		if t.Key == karpv1.TaintKeyReserved {
			continue
		}
		x.flags(true)
		x.text(t.Key)
		x.text(string(t.Operator))
		x.text(t.Value)
		x.text(string(t.Effect))
	}
	x.flags(false)
	x.optionalFields(pod)
}

// optionalFields appends the fields that most pods lack.
func (x *interner) optionalFields(pod *corev1.Pod) {
	spec := &pod.Spec
	x.flags(spec.Affinity != nil)
	if spec.Affinity != nil {
		raw, err := spec.Affinity.Marshal()
		x.number(int64(len(raw)))
		x.key = append(x.key, raw...)
		x.flags(err != nil)
	}
	x.number(int64(len(spec.TopologySpreadConstraints)))
	for i := range spec.TopologySpreadConstraints {
		raw, err := spec.TopologySpreadConstraints[i].Marshal()
		x.number(int64(len(raw)))
		x.key = append(x.key, raw...)
		x.flags(err != nil)
	}
	if spec.RuntimeClassName != nil {
		x.text(*spec.RuntimeClassName)
	}
	x.number(int64(len(spec.ResourceClaims)))
	x.flags(len(spec.Volumes) > mostVolumes)
	for i := range claimVolumes(pod) {
		// Pods with different claims share a spec unless a claim restricts the nodes or
		// is counted as an attachment; most claims do neither.
		if name, _ := claimOf(pod, &spec.Volumes[i]); name != "" {
			choices, problems := x.lowerer.volumes.topologyTerms(pod)
			x.terms(choices)
			for _, p := range problems {
				x.text(p)
			}
			attached := model.Resources{}
			x.lowerer.volumes.countAttachments(pod, attached)
			for _, name := range slices.Sorted(maps.Keys(attached)) {
				x.text(name)
				x.number(attached[name])
			}
			break
		}
	}
	if isResizing(pod) {
		x.text("resizing/" + pod.Name)
	}
}

func (x *interner) terms(choices [][]model.Term) {
	x.number(int64(len(choices)))
	for _, c := range choices {
		x.number(int64(len(c)))
		for _, t := range c {
			x.number(int64(len(t)))
			for i := range t {
				x.text(t[i].Key)
				x.text(string(t[i].Operator))
				x.number(int64(len(t[i].Values)))
				for _, v := range t[i].Values {
					x.text(v)
				}
			}
		}
	}
}

func (x *interner) container(c *corev1.Container) {
	x.text(c.Name) // PodRequests pairs containers and their status by name
	x.resources(c.Resources.Requests)
	x.resources(c.Resources.Limits)
	x.flags(isSidecar(c))
	x.number(int64(len(c.Ports)))
	for i := range c.Ports {
		p := &c.Ports[i]
		x.number(int64(p.HostPort))
		x.number(int64(p.ContainerPort))
		x.text(string(p.Protocol))
		x.text(p.HostIP)
	}
}
