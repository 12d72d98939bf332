// Package crash turns panics into errors. It has the only recover of the controller: what
// calls Do is an edge beyond which a defect costs one piece of work and not the program.
package crash

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
)

// PanicError is a panic as an error.
type PanicError struct {
	// Value is what panic was called with, and Stack the stack of that goroutine.
	Value any
	Stack []byte
}

// Error is the first line of the value. It is the same in every run, which the stack is
// not.
func (p *PanicError) Error() string {
	line, _, _ := strings.Cut(fmt.Sprint(p.Value), "\n")
	return "panic: " + line
}

// Do calls do and returns its error. If do panics, the error is a *PanicError. A *PanicError that do
// panics with is returned unchanged.
func Do(do func() error) (err error) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		if known, ok := value.(*PanicError); ok {
			err = known
			return
		}
		err = &PanicError{Value: value, Stack: debug.Stack()}
	}()
	return do()
}

// Stack returns the stack of the panic in the error's chain, "" when there is none.
func Stack(err error) string {
	var p *PanicError
	if !errors.As(err, &p) {
		return ""
	}
	return string(p.Stack)
}
