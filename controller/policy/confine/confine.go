// Package confine takes from the current process what it does not need to evaluate
// policies: memory and processor time beyond a limit, files, sockets, other
// processes. Nothing can give it back.
//
// It is meant for a process that was started for this purpose, with an empty
// environment and no descriptors but its pipes (package isolate). Limits, Landlock
// and seccomp are features of Linux; where the kernel or the container's own profile
// refuses one of them, Apply goes on and says so in the Report.
package confine

import (
	"runtime/debug"
	"strings"
	"time"
)

// Limits bound what the process may use. The zero value of a field means no limit.
type Limits struct {
	// Memory bounds the writable private memory of the process, in bytes. What the program
	// has mapped at its start beside the memory of the Go runtime does not count.
	Memory uint64
	// CPU bounds the processor time of the process over its life. It is rounded up to
	// whole seconds; the kernel then ends the process.
	CPU time.Duration
}

// maxStack is the most bytes that the stack of a goroutine may have. Deeper recursion
// ends the process.
const maxStack = 64 << 20

// Report says what is in force.
type Report struct {
	// Landlock is the version of Landlock in force, 0 for none.
	Landlock int `json:"landlock"`
	// Seccomp is true when system calls are filtered.
	Seccomp bool `json:"seccomp"`
	// Missing lists what could not be put in force, and why.
	Missing []string `json:"missing,omitempty"`
}

// String says what is not in force, for a log line; "" when everything is.
func (r *Report) String() string { return strings.Join(r.Missing, "; ") }

// Apply puts the limits and the restrictions in force, for all threads of the process.
func Apply(l Limits) Report {
	debug.SetTraceback("none")
	debug.SetMaxStack(maxStack)
	if l.Memory > 0 {
		// The collector works harder from here on, before the hard limit ends the
		// process.
		debug.SetMemoryLimit(int64(l.Memory - l.Memory/4))
	}
	var r Report
	r.note("limits", limit(l))
	version, err := landlock()
	r.note("Landlock", err)
	r.Landlock = version
	err = filter()
	r.note("seccomp", err)
	r.Seccomp = err == nil
	return r
}

func (r *Report) note(what string, err error) {
	if err != nil {
		r.Missing = append(r.Missing, what+": "+err.Error())
	}
}
