package failclosed

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/test/kit/brokenpolicy"
	"spokeshave.dev/test/kit/eventually"
)

// TestProcess: what follows when the process of Rego policies ends, or cannot be started.
func TestProcess(t *testing.T) {
	if _, err := children(); err != nil {
		t.Skip(err)
	}
	prove(t, "TestProcess", rows{
		"its process ends while it is asked (Rego)": func(k brokenpolicy.Kind) []setting {
			const long = `s := concat("", ["abcdefghijklmnop" | some i in numbers.range(1, 20000000)]); contains(s, "x")`
			in := isolated(setting{
				name: "out of memory", revisions: one(k.Rego(rule(k.Hook, zero(k.Hook)+" == 0; "+long))), fault: policy.FaultMemory,
			})
			// Little enough to be used up before the deadline on a busy machine.
			in.engines = engine.With(engine.Config{Isolate: &isolate.Config{Memory: 40 << 20}})
			return []setting{in}
		},
		"its process cannot start when it is asked (Rego)": func(k brokenpolicy.Kind) []setting {
			return []setting{isolated(setting{
				name: "no more files", revisions: one(k.Good()), fault: policy.FaultInternal,
				between: func(t *testing.T) {
					killChildren(t)
					noMoreFiles(t)
				},
			})}
		},
		"its process cannot start when it is loaded (Rego)": func(k brokenpolicy.Kind) []setting {
			in := isolated(setting{name: "no more files", revisions: one(k.Good())})
			in.before = noMoreFiles
			return []setting{in}
		},
	})
}

// TestLoadedAgain: a policy that could not be loaded for want of a process is loaded again
// without an edit.
func TestLoadedAgain(t *testing.T) {
	k := brokenpolicy.Kind{Hook: policy.HookCeiling}
	l := load.New(load.Config{Namespace: own, Engines: isolated(setting{}).engines, Now: time.Now})
	cm := k.Good().ConfigMap(own, "p")
	t.Run("without a process", func(t *testing.T) {
		noMoreFiles(t)
		if _, err := l.Apply(t.Context(), cm); !load.Transient(err) {
			t.Errorf("rejected for good: %v", err)
		}
	})
	if _, err := l.Apply(t.Context(), cm); err != nil || l.InForce(load.Key{Namespace: own, Name: "p"}) == "" {
		t.Errorf("not in force: %v", err)
	}
	if _, err := l.Delete(t.Context(), load.Key{Namespace: own, Name: "p"}); err != nil {
		t.Error(err)
	}
}

// isolated is a setting whose Rego policies run in a process of their own.
func isolated(in setting) setting {
	in.engines = engine.With(engine.Config{Isolate: &isolate.Config{Memory: 96 << 20}})
	return in
}

// noMoreFiles lets this process open no more files until the test ends: it can make no
// pipe to a new process.
func noMoreFiles(t *testing.T) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
}

// killChildren kills the processes of policies, and waits until they are gone.
func killChildren(t *testing.T) {
	t.Helper()
	pids, err := children()
	if err != nil || len(pids) == 0 {
		t.Fatalf("processes %v, %v", pids, err)
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually.True(t, "the processes to end", func() bool {
		pids, err := children()
		return err == nil && len(pids) == 0
	})
}

// children are the process numbers of this process's children.
func children() ([]int, error) {
	all, err := filepath.Glob("/proc/self/task/*/children")
	if err == nil && len(all) == 0 {
		err = os.ErrNotExist
	}
	var out []int
	for _, f := range all {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out, err
}
