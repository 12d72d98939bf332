package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ForgetPeak makes the controller's present resident memory the most that it has had. Only Linux keeps that.
func (s *Stack) ForgetPeak() error {
	if err := os.WriteFile(s.process("clear_refs"), []byte("5"), 0); err != nil {
		return fmt.Errorf("forget the controller's peak memory: %w", err)
	}
	return nil
}

// PeakMemory returns the most resident memory, in bytes, that the controller's process has had since it
// started or [Stack.ForgetPeak] was called. Only Linux keeps that.
func (s *Stack) PeakMemory() (float64, error) {
	text, err := os.ReadFile(s.process("status"))
	if err != nil {
		return 0, fmt.Errorf("read the controller's peak memory: %w", err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), " kB"), 64)
	if err != nil {
		return 0, fmt.Errorf("read the controller's peak memory: %w", err)
	}
	return kib * 1024, nil
}

// process returns the path of a file about the controller's process.
func (s *Stack) process(name string) string {
	return filepath.Join("/proc", strconv.Itoa(s.controller), name)
}
