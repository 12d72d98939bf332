package simulation

import (
	"os"
	"strconv"
)

// clusters is how many clusters the seeded tests look at: a few by default, as
// many as SOAK says in a long run.
func clusters() int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil {
		return n
	}
	return 2
}
