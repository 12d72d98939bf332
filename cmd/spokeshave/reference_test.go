package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReference: docs/reference/commands.md lists every command with its flags. -update
// writes it.
func TestReference(t *testing.T) {
	const file = "../../docs/reference/commands.md"
	t.Setenv("KUBECONFIG", "")
	var b strings.Builder
	b.WriteString(`# Commands and flags

For people who write scripts, or look up a flag: every command of ` + "`spokeshave`" + ` with its flags. What the commands answer, and their exit
codes, is in [Command line](../cli.md); ` + "`--help`" + ` of each has a longer text and examples. Made from the program by
` + "`go test ./cmd/spokeshave -run TestReference -update`" + `.
`)
	root := describe(rootCommand(t.Context()))
	for i := range root.Commands {
		root.Commands[i].reference(&b, root.Name)
	}
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
		t.Errorf("%s is stale; go test ./cmd/spokeshave -run TestReference -update writes it:\n%s", file, diff)
	}
}

// reference writes a section about the command, and one about each command below it.
func (d *described) reference(b *strings.Builder, parent string) {
	name := parent + " " + d.Name
	if len(d.Commands) == 0 || len(d.Flags) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```text\n%s %s\n```\n\n", name, d.Short, parent, d.Use)
	}
	for _, f := range d.Flags {
		f.reference(b)
	}
	for i := range d.Commands {
		d.Commands[i].reference(b, name)
	}
}

// reference writes an entry about the flag.
func (f *describedFlag) reference(b *strings.Builder) {
	short := ""
	if f.Shorthand != "" {
		short = "`-" + f.Shorthand + "`, "
	}
	kind := map[string]string{"bool": "", "stringArray": "texts", "stringSlice": "texts", "string": "text"}
	what, known := kind[f.Type]
	if !known {
		what = f.Type
	}
	if f.Default != "" && f.Default != "[]" && f.Default != "false" && f.Default != "0s" && f.Default != "0" {
		what = strings.TrimPrefix(what+", default `"+f.Default+"`", ", ")
	}
	if what != "" {
		what = " (" + what + ")"
	}
	usage := strings.NewReplacer("<", `\<`, "*", `\*`, "[", `\[`, "]", `\]`, "{", `\{`).Replace(f.Usage)
	fmt.Fprintf(b, "- %s**`--%s`**%s: %s.\n", short, f.Name, what, strings.TrimSuffix(usage, "."))
}
