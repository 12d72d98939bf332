package confine

import "golang.org/x/sys/unix"

// arch is how seccomp names the machine.
const arch = unix.AUDIT_ARCH_AARCH64
