//go:build amd64 || arm64

package confine

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// allowed lists the system calls that the Go runtime needs to allocate memory, run
// goroutines on threads and use open pipes. Every other call fails with EPERM: no
// file can be opened, no socket made, no program started, no other process reached.
func allowed() []uint32 {
	return []uint32{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FCNTL,
		unix.SYS_FUTEX, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MPROTECT,
		unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_CREATE1, unix.SYS_EVENTFD2,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_GETTIMEOFDAY,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETRANDOM, unix.SYS_GETRUSAGE,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
		unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_RESTART_SYSCALL, unix.SYS_RSEQ,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	}
}

// Offsets in struct seccomp_data.
const (
	callNumber   = 0
	callArch     = 4
	callFirstArg = 16 // the low half, on a little-endian machine
)

// filter installs the seccomp filter on all threads.
func filter() error {
	program := assemble()
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("set no_new_privs: %w", errno)
	}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("install the filter: %w", errno)
	}
	if r != 0 {
		return fmt.Errorf("install the filter: thread %d cannot follow", r)
	}
	return nil
}

// assemble returns the filter. clone may make threads, and no processes; tgkill may
// signal threads of this process, which the runtime does to stop them for the garbage
// collector.
func assemble() []unix.SockFilter {
	const (
		load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		anyBits = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		give    = unix.BPF_RET | unix.BPF_K
		refuse  = uint32(unix.SECCOMP_RET_ERRNO) | uint32(unix.EPERM)
	)
	out := []unix.SockFilter{
		{Code: load, K: callArch},
		{Code: equal, Jt: 1, K: arch},
		{Code: give, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: callNumber},
	}
	for _, call := range allowed() {
		out = append(out, unix.SockFilter{Code: equal, Jf: 1, K: call}, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW})
	}
	return append(out,
		unix.SockFilter{Code: equal, Jf: 3, K: unix.SYS_TGKILL},
		unix.SockFilter{Code: load, K: callFirstArg},
		unix.SockFilter{Code: equal, Jf: 5, K: uint32(unix.Getpid())},
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: equal, Jf: 3, K: unix.SYS_CLONE},
		unix.SockFilter{Code: load, K: callFirstArg},
		unix.SockFilter{Code: anyBits, Jf: 1, K: unix.CLONE_THREAD},
		unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: give, K: refuse},
	)
}
