// Package parallel runs parts of one computation on several goroutines. A panic in a
// goroutine would end the whole program, whatever its caller recovers from; a Group
// raises it again in the goroutine that waits.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"

	"spokeshave.dev/controller/core/crash"
)

// Group runs functions on goroutines of their own. The zero value is ready.
type Group struct {
	wait  sync.WaitGroup
	once  sync.Once
	first error
}

// Go calls do on a goroutine of its own.
func (g *Group) Go(do func()) {
	g.wait.Go(func() {
		err := crash.Do(func() error {
			do()
			return nil
		})
		if err != nil {
			g.once.Do(func() { g.first = err })
		}
	})
}

// Wait returns when all functions have returned. It panics with a [*crash.PanicError] when one
// of them did.
func (g *Group) Wait() {
	g.wait.Wait()
	if g.first != nil {
		panic(g.first) //nolint:forbidigo // raised again where the caller can recover
	}
}

// Each calls do for the numbers below n, on as many processors as there are, and returns when
// all calls have returned. The calls share nothing that changes, so that their order does not
// matter.
func Each(n int, do func(i int)) {
	var g Group
	next := atomic.Int64{}
	for range min(n, runtime.GOMAXPROCS(0)) {
		g.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	g.Wait()
}
