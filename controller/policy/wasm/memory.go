package wasm

import (
	"fmt"
	"slices"
	"sync"

	"spokeshave.dev/controller/core/policy"
)

// book divides the memory that all policies of an engine may use together.
type book struct {
	mu   sync.Mutex
	held map[string]map[*Policy]uint64
	// refused is what policies need that did not fit beside the others: they come again every
	// minute, and are not compiled again before there is as much.
	refused []refused
}

// maxRefused is how many refused policies a book remembers: the latest ones.
const maxRefused = 64

// refused is what a policy takes that did not fit.
type refused struct {
	revision revision
	takes    uint64
}

// forget forgets that a policy was refused, and returns what it takes, 0 if it was not.
func (b *book) forget(p *Policy) (takes uint64) {
	at := slices.IndexFunc(b.refused, func(r refused) bool { return r.revision == p.revision })
	if at < 0 {
		return 0
	}
	takes = b.refused[at].takes
	b.refused = slices.Delete(b.refused, at, at+1)
	return takes
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

// guests of a policy, besides its spare, have to fit for it to be loaded.
const leastGuests = 1

func need(native, instance uint64, guests int) uint64 { return native + uint64(guests+1)*instance }

// known returns an error if a policy with the same contents did not fit before, and there is
// still too little memory for it.
func (b *book) known(p *Policy, most uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fits(p, b.forget(p), most)
}

// check returns an error if the others do not leave enough of most to a policy.
func (b *book) check(p *Policy, native, instance, most uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fits(p, need(native, instance, leastGuests), most)
}

// reserve books the memory of a policy's code and of its instances: of as many as it wants
// and a spare, or of fewer where there is less. It returns how many it may have besides the
// spare.
func (b *book) reserve(p *Policy, instance, most uint64) (guests int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, free := p.info.Namespace+"/"+p.info.Name, b.free(p, most)
	guests = p.limits.guests
	for guests > leastGuests && need(p.native, instance, guests) > free {
		guests--
	}
	takes := need(p.native, instance, guests)
	if err := b.fits(p, takes, most); err != nil {
		return 0, err
	}
	if b.held == nil {
		b.held = map[string]map[*Policy]uint64{}
	}
	if b.held[name] == nil {
		b.held[name] = map[*Policy]uint64{}
	}
	b.held[name][p] = takes
	return guests, nil
}

// fits returns an error if the others do not leave so many bytes of most to a policy. Another
// attempt may succeed once they leave more, unless it would not fit alone.
func (b *book) fits(p *Policy, takes, most uint64) error {
	b.forget(p)
	free := b.free(p, most)
	switch {
	case takes <= free:
		return nil
	case takes > most:
		return fmt.Errorf("memory: its code and two instances may use %.1f MiB, and all WebAssembly policies together %.1f MiB: it would not fit alone; build it for size, lower its limits.memory, or raise --wasm-memory",
			mib(takes), mib(most))
	}
	if b.refused = append(b.refused, refused{p.revision, takes}); len(b.refused) > maxRefused {
		b.refused = slices.Delete(b.refused, 0, 1)
	}
	return &crowded{
		text: fmt.Sprintf("memory: its code and two instances may use %.1f MiB, and the other WebAssembly policies leave %.1f of %.1f MiB: it is loaded when they leave enough; lower limits.memory of some policy, remove one, or raise --wasm-memory",
			mib(takes), mib(free), mib(most)),
		fault: policy.Fault{Kind: policy.FaultDeadline},
	}
}

// crowded is the refusal of a policy that does not fit beside the others. Another attempt may succeed.
type crowded struct {
	text  string
	fault policy.Fault
}

// Error implements error.
func (c *crowded) Error() string { return c.text }

// Unwrap returns the fault.
func (c *crowded) Unwrap() error { return &c.fault }

func mib(n uint64) float64 { return float64(n) / (1 << 20) }

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
