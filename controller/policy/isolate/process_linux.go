package isolate

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is this program, also when its file has been replaced or removed.
const self = "/proc/self/exe"

// pipeSize holds a question of 1,000 offerings.
const pipeSize = 256 << 10

// attributes make the kernel end the process when the controller ends.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// widen enlarges a pipe, so that a question is written at once. A pipe that stays as it
// is works too.
func widen(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) { //nolint:errcheck // see above
		unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) //nolint:errcheck // see above
	})
}
