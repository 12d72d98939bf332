package apiserver

import (
	"sync"
	"testing"
)

// TestSideBySide: tests that run side by side may start a server at the same time. It can
// fail under the race detector only.
func TestSideBySide(*testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(discardLogs)
	}
	wg.Wait()
}
