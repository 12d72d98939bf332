package aws_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets more tests run beside each other than there are processors: those of the matrices
// mostly wait for the next try of a call.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
