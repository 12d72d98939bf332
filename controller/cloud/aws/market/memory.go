package market

import (
	"maps"
	"strconv"
	"sync"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// leastMemory is the least share of a type's advertised memory that a node is
// believed to have. Less is a machine out of order, not what to plan with.
const leastMemory = 0.7

// bootedAs is a type and the image that its nodes boot.
type bootedAs struct{ instanceType, image string }

// Memories is what registered nodes report: how much the hypervisor and the
// kernel keep differs from type to type and image to image, and EC2 does not say.
type Memories struct {
	Market *Market

	mu      sync.Mutex
	seen    map[bootedAs]int64
	version uint64
}

// Learn notes the memory that a node reports as its capacity, in bytes.
// The least of a type and image counts from now on in place of the estimate. What
// cannot be is not believed.
func (m *Memories) Learn(instanceType, image string, capacity int64) {
	if at := m.Market.advertised(instanceType); image == "" || at > 0 && !plausible(capacity, at) {
		return // before the market was asked, it is judged when it is used
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := bootedAs{instanceType: instanceType, image: image}
	if known, ok := m.seen[key]; ok && known <= capacity {
		return
	}
	if m.seen == nil {
		m.seen = map[bootedAs]int64{}
	}
	m.seen[key] = capacity
	m.version++
}

func plausible(reported, advertised int64) bool {
	return advertised > 0 && reported <= advertised && float64(reported) >= leastMemory*float64(advertised)
}

// advertised is the memory that EC2 sells a type with, in bytes; 0 is unknown.
func (m *Market) advertised(instanceType string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.current.Types {
		if t := &m.current.Types[i]; t.Name == instanceType {
			return t.MemoryMiB << 20
		}
	}
	return 0
}

// VCPUs is the number of vCPUs of a type, 0 for an unknown one.
func (m *Market) VCPUs(instanceType string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.current.Types {
		if t := &m.current.Types[i]; t.Name == instanceType {
			return int64(t.VCPU)
		}
	}
	return 0
}

// learned copies what is known, with a number that changes when it does.
func (m *Memories) learned() (map[bootedAs]int64, uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.seen), m.version
}

// correct replaces the estimate of a type's memory by what its nodes report. evicted is
// the share of the memory below which kubelet evicts pods, 0 when the threshold is no
// share. Types may share maps: they are copied.
func correct(t *model.InstanceType, reported int64, evicted float64) {
	mib, err := strconv.ParseInt(t.Labels[awsv1.LabelInstanceMemory], 10, 64)
	if err != nil || !plausible(reported, mib<<20) {
		return
	}
	estimate := t.Capacity[model.Memory]
	less := estimate - catalog.ShareOf(estimate, evicted) - (reported - catalog.ShareOf(reported, evicted))
	t.Capacity, t.Allocatable = t.Capacity.Clone(), t.Allocatable.Clone()
	t.Capacity[model.Memory] = reported
	t.Allocatable[model.Memory] = max(0, t.Allocatable[model.Memory]-less)
}
