package simulate

import "errors"

// ErrDefect says that a decision came out wrong: a fault of the program, not
// of its input.
var ErrDefect = errors.New("defect")
