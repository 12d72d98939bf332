package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ForgetPeak makes the controller's present resident memory the most that it has had. Where the system
// does not keep that, it does nothing.
func (s *Stack) ForgetPeak() error {
	err := os.WriteFile(s.process("clear_refs"), []byte("5"), 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the controller's peak memory: %w", err)
	}
	return nil
}

// PeakMemory returns the most resident memory, in bytes, that the controller's process has had since it
// started or [Stack.ForgetPeak] was called. known is false where the system does not keep that.
func (s *Stack) PeakMemory() (bytes float64, known bool, err error) {
	text, err := os.ReadFile(s.process("status"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("read the controller's peak memory: %w", err)
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		return 0, false, nil
	}
	kib, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0, false, fmt.Errorf("read the controller's peak memory: %w", err)
	}
	return kib * 1024, true, nil
}

// process returns the path of a file about the controller's process.
func (s *Stack) process(name string) string {
	return filepath.Join("/proc", strconv.Itoa(s.controller), name)
}
