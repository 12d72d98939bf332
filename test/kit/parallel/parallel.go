// Package parallel lets more tests run beside each other than there are processors, for packages
// whose tests mostly wait: for another program, or for the next try of a call.
package parallel

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"
)

// Run runs the tests of a package, n in parallel unless -test.parallel says otherwise, and ends
// the program. It is what TestMain does.
func Run(m *testing.M, n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}
