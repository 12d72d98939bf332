package simulate

import "errors"

// ErrDefect says that a decision is invalid because of a fault of the program, not of
// its input.
var ErrDefect = errors.New("defect")
