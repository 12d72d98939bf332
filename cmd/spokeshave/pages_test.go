package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsOfPages: every spokeshave command on every page of the repository exists, with
// the flags that it is given there. What the commands do is tested where the pages are followed.
func TestCommandsOfPages(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, c := range commandsOn(string(text)) {
			found++
			if problem := unknown(t, c); problem != "" {
				t.Errorf("%s: %s: %s", path, c, problem)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 140 {
		t.Errorf("%d commands were found, want at least 140", found)
	}
}

var (
	span = regexp.MustCompile("`(spokeshave [a-z][^`\n]*)`")
	line = regexp.MustCompile(`(?m)^(?:\s*|[$] |\s*\d+\. .*: )(?:go run \./cmd/|kubectl )?spokeshave ([a-z].*)$`)
	// end is where the arguments of a command end for the shell, or for a page: an ellipsis.
	end = regexp.MustCompile(`\s(?:[|>;#]|&&|\|\||…)|\s*$|…`)
	// within is a command in the quotes of another's argument.
	within = regexp.MustCompile(`\$\([^)]*\)|'[^']*'|"[^"]*"`)
)

// commandsOn returns the commands of a page, without what the shell makes of them.
func commandsOn(text string) []string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var out []string
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	inBlock, output := false, false
	for l := range strings.Lines(text) {
		if fence, ok := strings.CutPrefix(strings.TrimSpace(l), "```"); ok {
			inBlock, output = !inBlock, fence == "text"
			continue
		}
		if output {
			continue
		}
		if m := line.FindStringSubmatch(strings.TrimRight(l, "\n")); m != nil && (inBlock || strings.HasPrefix(l, "    ")) {
			out = append(out, "spokeshave "+m[1])
		}
	}
	for i, c := range out {
		c = within.ReplaceAllString(c, "X")
		out[i] = strings.TrimSpace(c[:end.FindStringIndex(c)[0]])
	}
	return out
}

// unknown says what of a command does not exist, "" for nothing.
func unknown(t *testing.T, command string) string {
	t.Helper()
	args := strings.Fields(command)[1:]
	if args[0] == "completion" || args[0] == "help" {
		return ""
	}
	c, rest, err := rootCommand(t.Context()).Find(args)
	switch {
	case err != nil:
		return err.Error()
	case !c.Runnable() && !strings.HasSuffix(command, "--help") && len(rest) > 0:
		return "no such command"
	}
	var given []string
	for _, a := range rest {
		if a != "[flags]" && !strings.HasPrefix(a, "[") {
			given = append(given, a)
		}
	}
	err = c.ParseFlags(given)
	switch {
	case err == nil, strings.Contains(err.Error(), "help requested"):
		return ""
	case strings.Contains(err.Error(), "flag needs an argument"): // a page speaks of the flag
		return ""
	}
	return err.Error()
}
