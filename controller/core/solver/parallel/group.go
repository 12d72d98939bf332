// Package parallel runs parts of one computation on several goroutines. A panic in a
// goroutine would end the whole program, whatever its caller recovers from; a Group
// raises it again in the goroutine that waits.
package parallel

import (
	"sync"

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
