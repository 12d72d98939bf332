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

// free returns the bytes of most that the others leave to a policy.
func (b *book) free(p *Policy, most uint64) uint64 {
	if taken := b.taken(p.info.Namespace + "/" + p.info.Name); taken < most {
		return most - taken
	}
	return 0
}

// fits returns an error if the others do not leave so many bytes of most to a policy; most 0
// is no limit.
func (b *book) fits(p *Policy, size, most uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if free := b.free(p, most); most > 0 && size > free {
		return fmt.Errorf("memory: its compiled code takes %d MiB, and the other WebAssembly policies leave %d of %d MiB: build it for size, or raise --wasm-memory",
			size>>20, free>>20, most>>20)
	}
	return nil
}

// reserve books the memory of a policy's code and of its instances: of as many as it wants
// and a spare, or of fewer where there is less. It returns how many it may have besides the
// spare.
func (b *book) reserve(p *Policy, instance, most uint64) (guests int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, free := p.info.Namespace+"/"+p.info.Name, b.free(p, most)
	guests = p.limits.guests
	for guests > 1 && p.native+uint64(guests+1)*instance > free {
		guests--
	}
	need := p.native + uint64(guests+1)*instance
	if need > free {
		return 0, fmt.Errorf("memory: its code and two instances may use %d MiB, and the other WebAssembly policies leave %d of %d MiB: lower limits.memory of some policy, or raise --wasm-memory",
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
