//go:build unix && !linux

package controlplane

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes makes a detached program the leader of a session of its
// own, out of reach of the terminal. Only Linux can tie a child to its parent.
func (l *launcher) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: l.detached, Setpgid: !l.detached}
}

// identify names the program that runs under pid: when it was started, and its
// file. It fails for a pid that is not running.
func identify(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "lstart=,comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "", fmt.Errorf("identify pid %d: %w", pid, err)
	}
	return strings.TrimSpace(string(out)), nil
}
