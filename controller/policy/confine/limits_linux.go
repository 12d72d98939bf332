package confine

import (
	"errors"
	"fmt"
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
		errs = append(errs, set("RLIMIT_DATA", unix.RLIMIT_DATA, l.Memory))
	}
	if l.CPU > 0 {
		errs = append(errs, set("RLIMIT_CPU", unix.RLIMIT_CPU, uint64((l.CPU+time.Second-1)/time.Second)))
	}
	return errors.Join(errs...)
}
