//go:build unix

// Package filelock lets one process at a time do something: the tests of several packages run at the
// same time and share what they build and install.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Take takes an exclusive lock on the file path, waiting for whoever holds it and
// saying so on log. The lock ends with release, or with the process.
func Take(ctx context.Context, path string, log io.Writer) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	said := false
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(context.Context) (bool, error) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err == nil, err
		}
		if !said {
			said = true
			_, _ = fmt.Fprintf(log, "waiting for another process that holds %s\n", path)
		}
		return false, nil
	})
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}
