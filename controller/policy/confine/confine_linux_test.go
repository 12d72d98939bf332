package confine

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// argument makes the test binary the confined process of a test.
const argument = "confined"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == argument {
		confined(os.Args[2])
	}
	os.Exit(m.Run())
}

// attempts are what a confined process must not be able to do.
func attempts() map[string]func() error {
	return map[string]func() error{
		"read a file":   func() error { _, err := os.ReadFile("/etc/hostname"); return err },
		"list a folder": func() error { _, err := os.ReadDir("/"); return err },
		"write a file":  func() error { return os.WriteFile("/tmp/confined", []byte("x"), 0o600) },
		"remove a file": func() error { return syscall.Unlink("/tmp/confined") },
		"tcp":           func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
		"udp":           func() error { _, err := net.Dial("udp", "127.0.0.1:1"); return err },
		"unix":          func() error { _, err := net.Dial("unix", "@x"); return err },
		"start a program": func() error {
			return syscall.Exec("/proc/self/exe", []string{"x"}, nil)
		},
		"fork": func() error {
			pid, _, errno := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
			if errno != 0 {
				return errno
			}
			if pid == 0 {
				_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
			}
			return nil
		},
		"signal the parent": func() error { return syscall.Kill(os.Getppid(), 0) },
		"raise a limit": func() error {
			return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: 1 << 40, Max: 1 << 40})
		},
	}
}

// confined is the process of the test: it prints a JSON object, of what it could not
// do by name and "" for what it could.
func confined(what string) {
	if what == "hold" {
		Apply(Limits{Memory: 128 << 20})
		hold(80 << 20)
		os.Exit(0)
	}
	spend := 20 * time.Second // the race detector takes seconds to fill a stack
	if what == "time" {
		spend = time.Second
	}
	report := Apply(Limits{Memory: 128 << 20, CPU: spend})
	switch what {
	case "memory":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
			clear(all[len(all)-1])
		}
	case "time":
		for i := uint64(0); ; i++ {
			runtime.KeepAlive(i)
		}
	case "stack":
		os.Stdout.WriteString(deep(1)) //nolint:errcheck // it does not return
	}
	out := map[string]string{"missing": report.String()}
	for name, try := range attempts() {
		if len(report.Missing) > 0 {
			break // the test is skipped
		}
		if err := try(); err != nil {
			out[name] = err.Error()
			continue
		}
		out[name] = ""
	}
	// What the runtime needs goes on: goroutines, threads, the collector, timers.
	done := make(chan bool)
	for range 20 {
		go func() { runtime.LockOSThread(); runtime.GC(); <-time.After(time.Millisecond); done <- true }()
	}
	for range 20 {
		<-done
	}
	json.NewEncoder(os.Stdout).Encode(out) //nolint:errcheck // the test sees that nothing came
	os.Exit(0)
}

// hold takes so many bytes, in small pieces.
func hold(bytes int) {
	const size = 1 << 14
	all := make([][]byte, bytes/size)
	for i := range all {
		all[i] = make([]byte, size)
	}
	runtime.KeepAlive(all)
}

// deep calls itself until the stack is full.
func deep(n int) string {
	if n < 0 {
		return ""
	}
	return deep(n+1) + "x"
}

func run(t *testing.T, what string) (string, string, error) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", argument, what)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{}, io.Writer(&out), &errs
	err := cmd.Run()
	return out.String(), errs.String(), err
}

// TestConfined: a confined process can compute, and nothing else.
func TestConfined(t *testing.T) {
	out, errs, err := run(t, "attempts")
	got := map[string]string{}
	if err := errors.Join(err, json.Unmarshal([]byte(out), &got)); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if got["missing"] != "" {
		t.Skipf("this kernel lacks %s", got["missing"])
	}
	for name := range attempts() {
		if got[name] == "" {
			t.Errorf("it could %s", name)
		}
	}
}

// TestLimits: a process that exceeds a limit ends, and says why where it can.
func TestLimits(t *testing.T) {
	for what, want := range map[string]string{
		// Go's runtime meets the limit in its own bookkeeping as well, where it does not say
		// "out of memory" but faults: about once in ten runs.
		"memory": "out of memory|segmentation violation",
		"time":   "^$",
		"stack":  "stack exceeds",
	} {
		t.Run(what, func(t *testing.T) {
			if what == "memory" && !memoryIsLimited {
				t.Skip("the race detector needs the memory")
			}
			_, errs, err := run(t, what)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !regexp.MustCompile(want).MatchString(errs) {
				t.Fatalf("ended with %v: %.300s", err, errs)
			}
			t.Logf("%v: %.60q after %v of processor time", err, errs, exit.UserTime()+exit.SystemTime())
		})
	}
}

// TestHold: a process may hold most of what its limit says. What the program has mapped at its
// start and does not use is not taken from it.
func TestHold(t *testing.T) {
	if !memoryIsLimited {
		t.Skip("the race detector needs the memory")
	}
	if _, errs, err := run(t, "hold"); err != nil {
		t.Errorf("ended with %v: %.300s", err, errs)
	}
}
