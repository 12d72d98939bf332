package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// attributes makes a detached program the leader of a session of its
// own, out of reach of the terminal; any other one dies with its parent.
func (l *launcher) attributes() *syscall.SysProcAttr {
	if l.detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// identify names the program that runs under pid: its file and when it was
// started, in clock ticks since boot. It fails for a pid that is not running.
func identify(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("identify pid %d: %w", pid, err)
	}
	// The second field, the name in parentheses, may hold anything; what follows
	// it starts with the state, field 3. The start time is field 22.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", fmt.Errorf("identify pid %d: it has ended", pid)
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "", fmt.Errorf("identify pid %d: %w", pid, err)
	}
	return filepath.Base(strings.TrimSuffix(exe, " (deleted)")) + "@" + fields[19], nil
}
