// Package manual makes the shell completions and the man pages of the command line, by
// cobra's generators. It asks the program for them ("spokeshave completion", "spokeshave
// commands"), so that the program need not contain what writes man pages.
package manual

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"spokeshave.dev/tools/release/oci"
)

// completions are the scripts, where archives have them, by shell.
func completions() map[string]string {
	return map[string]string{
		"bash": "completions/spokeshave.bash", "fish": "completions/spokeshave.fish", "zsh": "completions/_spokeshave",
	}
}

// Write returns the files of the manual that the program tells, sorted by name. The pages
// are dated at.
func Write(ctx context.Context, binary []byte, version string, at time.Time) ([]oci.File, error) {
	dir, err := os.MkdirTemp("", "manual-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the manual: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "spokeshave")
	if err := os.WriteFile(path, binary, 0o700); err != nil {
		return nil, fmt.Errorf("write the program: %w", err)
	}
	var out []oci.File
	for shell, name := range completions() {
		script, err := ask(ctx, path, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, oci.File{Name: name, Mode: 0o644, Body: script})
	}
	text, err := ask(ctx, path, "commands", "-o", "json")
	if err != nil {
		return nil, err
	}
	var root described
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("read the commands of the program: %w", err)
	}
	pages, err := pages(root.command(), version, at)
	if err != nil {
		return nil, err
	}
	out = append(out, pages...)
	slices.SortFunc(out, func(a, b oci.File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// ask runs the program with no environment, which could show in defaults.
func ask(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"HOME=/nonexistent"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask the program for %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// pages are the man pages of a command and of those below it.
func pages(c *cobra.Command, version string, at time.Time) ([]oci.File, error) {
	var text bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Date: &at, Source: "Spokeshave " + version, Manual: "Spokeshave"}
	if err := doc.GenMan(c, header, &text); err != nil {
		return nil, fmt.Errorf("write the page of %s: %w", c.CommandPath(), err)
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	out := []oci.File{{Name: "man/man1/" + name + ".1", Mode: 0o644, Body: text.Bytes()}}
	for _, sub := range c.Commands() {
		if sub.Name() == "help" {
			continue
		}
		below, err := pages(sub, version, at)
		if err != nil {
			return nil, err
		}
		out = append(out, below...)
	}
	return out, nil
}

// indented finds the blocks of a help text that are set as they are.
var indented = regexp.MustCompile(`(?m)(^[ \t]+\S.*\n?)+`)

// markdown is a help text as the generator reads it: what is indented is set as it is.
func markdown(text string) string {
	return indented.ReplaceAllStringFunc(text, func(block string) string {
		return "\n    " + strings.ReplaceAll(strings.TrimRight(block, "\n"), "\n", "\n    ") + "\n\n"
	})
}
