package wasm

import (
	"fmt"
	"sync"
)

// book divides the memory that all policies of an engine may use together.
type book struct {
	mu   sync.Mutex
	held map[string]map[*Policy]uint64
}

// taken returns the bytes that the policies may use, but for one of them. While a
// revision replaces another, the larger of the two counts.
func (b *book) taken(but string) uint64 {
	sum := uint64(0)
	for name, revisions := range b.held {
		most := uint64(0)
		for _, n := range revisions {
			most = max(most, n)
		}
		if name != but {
			sum += most
		}
	}
	return sum
}

// reserve books the memory of a policy's instances: of as many as it wants and a spare,
// or of fewer where there is less. It returns how many it may have besides the spare.
func (b *book) reserve(p *Policy, instance, most uint64) (guests int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := p.info.Namespace + "/" + p.info.Name
	free := uint64(0)
	if taken := b.taken(name); taken < most {
		free = most - taken
	}
	guests = p.limits.guests
	for guests > 1 && uint64(guests+1)*instance > free {
		guests--
	}
	need := uint64(guests+1) * instance
	if need > free {
		return 0, fmt.Errorf("memory: two instances may use %d MiB, and the other WebAssembly policies leave %d of %d MiB: lower limits.memory of some policy, or raise --wasm-memory",
			need>>20, free>>20, most>>20)
	}
	if b.held == nil {
		b.held = map[string]map[*Policy]uint64{}
	}
	if b.held[name] == nil {
		b.held[name] = map[*Policy]uint64{}
	}
	b.held[name][p] = need
	return guests, nil
}

// release frees what a policy has booked.
func (b *book) release(p *Policy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := p.info.Namespace + "/" + p.info.Name
	delete(b.held[name], p)
	if len(b.held[name]) == 0 {
		delete(b.held, name)
	}
}
