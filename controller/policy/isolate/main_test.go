package isolate_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
)

// TestMain makes this test binary the process in which policies run.
func TestMain(m *testing.M) {
	isolate.ServeStages()
	isolate.Child(engine.Rego, func(_ context.Context, order, _ []byte, out io.Writer) error {
		if string(order) != endless {
			return nil
		}
		_, err := out.Write([]byte("begun"))
		<-make(chan struct{})
		return err
	})
	os.Exit(m.Run())
}

// endless is the order of a job that does not end.
const endless = "endless"

var moment = policy.Call{Time: time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC), Seed: 7}

// counts count what an engine reports.
type counts struct {
	mu             sync.Mutex
	first, again   int
	killed         map[string]int
	refused        map[string]int
	lastKind       policy.FaultKind
	kernelHasNotIt string
}

func (c *counts) events() isolate.Events {
	return isolate.Events{
		Started: func(again bool) {
			c.mu.Lock()
			defer c.mu.Unlock()
			if again {
				c.again++
			} else {
				c.first++
			}
		},
		Refused: func(info *policy.Info, kind policy.FaultKind) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.refused[info.Name]++
			c.lastKind = kind
		},
		Killed: func(info *policy.Info, kind policy.FaultKind) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.killed[info.Name]++
			c.lastKind = kind
		},
		Unconfined: func(missing string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.kernelHasNotIt = missing
		},
	}
}

func (c *counts) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.killed[name]
}

// isolated returns an engine for Rego policies and what it reports.
func isolated() (policy.Engine, *counts) {
	c := &counts{killed: map[string]int{}, refused: map[string]int{}}
	return engine.With(engine.Config{Isolate: &isolate.Config{Events: c.events()}})[rego.Name], c
}

func source(name string, hook policy.Hook, files map[string]string) *policy.Source {
	for file, text := range files {
		if strings.HasSuffix(file, ".rego") && !strings.HasPrefix(text, "package") {
			files[file] = "package spokeshave." + string(hook) + "\n" + text
		}
	}
	return &policy.Source{Info: policy.Info{Name: name, Hooks: []policy.Hook{hook}}, Files: files}
}

func compile(t testing.TB, e policy.Engine, src *policy.Source) policy.Compiled {
	t.Helper()
	p, err := e.Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(t.Context()) }) //nolint:errcheck // the end of a test
	return p
}

// doubled returns rules that refer to the one before twice, n of them, from first.
func doubled(first string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a0 := %s\n", first)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "a%d := [a%d, a%d]\n", i, i-1, i-1)
	}
	return b.String()
}
