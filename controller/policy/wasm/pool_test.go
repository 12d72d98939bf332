package wasm

import "testing"

// TestPoolOrder: of the instances that wait, the one used last is asked: its
// memory is in the processor's caches.
func TestPoolOrder(t *testing.T) {
	p := compile(t, source(guest{}.bytes()))
	for range 5 {
		before := waiting(p)
		if _, err := p.Rank(t.Context(), input(1)); err != nil {
			t.Fatal(err)
		}
		if after := waiting(p); after != before {
			t.Fatal("another instance was asked")
		}
		p.pool.spares.Wait()
	}
}
