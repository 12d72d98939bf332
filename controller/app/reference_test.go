package app

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/reference/flags.md")

// TestReference: docs/reference/flags.md lists every flag of the controller. -update writes
// it.
func TestReference(t *testing.T) {
	const file = "../../docs/reference/flags.md"
	var b strings.Builder
	b.WriteString(`# Flags of the controller

For people who run the controller without the chart, or read its arguments: every flag of ` + "`spokeshave-controller`" + `. Whoever installs
the chart sets [values](values.md), from which it makes these arguments. A flag that is not given comes from the environment variable with
its name, in capitals with underscores: ` + "`CLUSTER_NAME` for `--cluster-name`" + `. Made from the program by
` + "`go test ./controller/app -run TestReference -update`" + `.

`)
	var o Options
	flags := pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	o.Bind(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		what := f.Value.Type()
		if f.DefValue != "" && f.DefValue != "[]" {
			what += ", default `" + f.DefValue + "`"
		}
		usage := strings.NewReplacer("<", `\<`, "*", `\*`, "[", `\[`, "]", `\]`).Replace(f.Usage)
		fmt.Fprintf(&b, "- **`--%s`** (%s): %s.\n", f.Name, what, usage)
	})
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(have)); diff != "" {
		t.Errorf("%s is stale; go test ./controller/app -run TestReference -update writes it:\n%s", file, diff)
	}
}
