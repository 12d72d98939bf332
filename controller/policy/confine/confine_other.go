//go:build !linux

package confine

import "errors"

var errNotLinux = errors.New("needs Linux") //nolint:gochecknoglobals // a sentinel

func limit(Limits) error { return errNotLinux }

func landlock() (version int, err error) { return 0, errNotLinux }

func filter() error { return errNotLinux }
