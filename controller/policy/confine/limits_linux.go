package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// limit sets the resource limits: soft and hard alike, so that they cannot be raised.
func limit(l Limits) error {
	set := func(name string, resource int, most uint64) error {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
		return nil
	}
	errs := []error{set("RLIMIT_CORE", unix.RLIMIT_CORE, 0), set("RLIMIT_FSIZE", unix.RLIMIT_FSIZE, 0)}
	if l.Memory > 0 && memoryIsLimited {
		errs = append(errs, set("RLIMIT_DATA", unix.RLIMIT_DATA, l.Memory+unused()))
	}
	if l.CPU > 0 {
		errs = append(errs, set("RLIMIT_CPU", unix.RLIMIT_CPU, uint64((l.CPU+time.Second-1)/time.Second)))
	}
	return errors.Join(errs...)
}

// unused returns how many bytes RLIMIT_DATA counts that are mapped and take no memory: some 65
// MiB, of which 32 are the Go runtime's index of the heap, and 32 an array of its cryptography.
// Taken from the limit, they would end the process long before the collector sees a reason
// to work harder.
func unused() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident, shared, code, library, data uint64 // pages
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared, &code, &library, &data); err != nil {
		return 0
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if all := data * uint64(os.Getpagesize()); all > m.Sys {
		return all - m.Sys
	}
	return 0
}
