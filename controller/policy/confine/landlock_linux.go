package confine

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Accesses that Landlock can deny, by the version in which it learnt them. What a
// ruleset handles and no rule permits is denied; the ruleset here has no rules.
const (
	filesV1  = unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1 // all bits up to MAKE_SYM
	filesV2  = filesV1 | unix.LANDLOCK_ACCESS_FS_REFER
	filesV3  = filesV2 | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	filesV5  = filesV3 | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	netV4    = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	scopesV6 = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// landlock denies all files, TCP, abstract sockets and signals to other processes, as
// far as the kernel's version of Landlock knows them. It returns that version.
func landlock() (version int, err error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("ask for its version: %w", errno)
	}
	rules, size := ruleset(int(v))
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rules)), size, 0)
	if errno != 0 {
		return 0, fmt.Errorf("make a ruleset: %w", errno)
	}
	defer func() { err = errors.Join(err, unix.Close(int(fd))) }()
	// Both calls concern one thread each.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return 0, fmt.Errorf("set no_new_privs: %w", errno)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return 0, fmt.Errorf("restrict: %w", errno)
	}
	return int(v), nil
}

// ruleset returns what a version can deny, and how many bytes of it the version knows.
func ruleset(version int) (unix.LandlockRulesetAttr, uintptr) {
	out, size := unix.LandlockRulesetAttr{Access_fs: filesV1}, unsafe.Sizeof(uint64(0))
	switch {
	case version >= 5:
		out.Access_fs = filesV5
	case version >= 3:
		out.Access_fs = filesV3
	case version == 2:
		out.Access_fs = filesV2
	}
	if version >= 4 {
		out.Access_net, size = netV4, 2*unsafe.Sizeof(uint64(0))
	}
	if version >= 6 {
		out.Scoped, size = scopesV6, unsafe.Sizeof(out)
	}
	return out, size
}
