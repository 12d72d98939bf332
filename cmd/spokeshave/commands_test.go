package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommands: the description names every command with every flag that its help names.
func TestCommands(t *testing.T) {
	code, stdout, stderr := command(t, "commands")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var root described
	if err := json.Unmarshal([]byte(stdout), &root); err != nil {
		t.Fatal(err)
	}
	byPath := map[string]described{}
	var walk func(path string, d described)
	walk = func(path string, d described) {
		byPath[path] = d
		for _, sub := range d.Commands {
			walk(path+" "+sub.Name, sub)
		}
	}
	walk("spokeshave", root)
	for _, c := range leaves(rootCommand(t.Context())) {
		d, ok := byPath[c.CommandPath()]
		if !ok || d.Short != c.Short || d.Long != c.Long || d.Example != c.Example || d.Use != c.Use {
			t.Errorf("%s is described as %+v", c.CommandPath(), d)
			continue
		}
		_, help, _ := command(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		_, flags, _ := strings.Cut(help, "\nFlags:\n")
		var want, got []string
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(flags, -1) {
			if m[1] != "help" {
				want = append(want, m[1])
			}
		}
		for _, f := range d.Flags {
			got = append(got, f.Name)
			if f.Usage == "" || f.Type == "" {
				t.Errorf("%s: no usage or type of %+v", c.CommandPath(), f)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: flags (-help +described):\n%s", c.CommandPath(), diff)
		}
	}
	if _, ok := byPath["spokeshave completion bash"]; !ok {
		t.Error("completion is not described")
	}
}

// TestCompletion: every shell gets a script that asks this program.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		code, stdout, stderr := command(t, "completion", shell)
		if code != exitOK || !strings.Contains(stdout, "spokeshave") || !strings.Contains(stdout, "__complete") {
			t.Errorf("%s: exit %d, %d bytes: %s", shell, code, len(stdout), stderr)
		}
	}
}
