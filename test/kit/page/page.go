// Package page finds the commands of a page of the documentation, for tests that follow it.
package page

import (
	"fmt"
	"regexp"
	"strings"
)

// Commands returns the commands in the lists of a section, whose heading is given with its
// number signs.
func Commands(text, section string) ([]string, error) {
	_, rest, ok := strings.Cut(text, "\n"+section+"\n")
	if !ok {
		return nil, fmt.Errorf("the page has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var out []string
	for line := range strings.Lines(rest) {
		if command, ok := strings.CutPrefix(line, "       "); ok {
			out = append(out, strings.TrimSpace(command))
		}
	}
	return out, nil
}

// Step is a block of commands for a shell, and what it prints in the end.
type Step struct {
	// Line is where the block begins, from 1.
	Line int
	// Commands are for a POSIX shell.
	Commands string
	// Prints are lines that the commands print in this order, perhaps with others between
	// them; nil when the page does not say. See Missing.
	Prints []string
}

// Steps returns the blocks of a page that are fenced as sh. A block fenced as text that
// follows one, with words between them or without, is what it prints.
func Steps(text string) ([]Step, error) {
	var out []Step
	fence, begun := "", 0
	var block []string
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\n")
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence, begun, block = strings.TrimPrefix(line, "```"), number, nil
		case fence != "" && line == "```":
			switch fence {
			case "sh":
				out = append(out, Step{Line: begun, Commands: strings.Join(block, "\n") + "\n"})
			case "text":
				if len(out) == 0 || out[len(out)-1].Prints != nil {
					return nil, fmt.Errorf("line %d: no block of commands prints this", begun)
				}
				out[len(out)-1].Prints = block
			}
			fence = ""
		case fence != "":
			block = append(block, line)
		}
	}
	if fence != "" {
		return nil, fmt.Errorf("line %d: the block does not end", begun)
	}
	return out, nil
}

// Missing returns the first of the expected lines that the output lacks, "" when it has
// all of them in their order. An ellipsis stands for any text within a line, or, as a
// line, for any lines. Spaces count as one each time.
func Missing(prints []string, output string) string {
	lines := strings.Split(output, "\n")
	at := 0
	for _, want := range prints {
		if strings.TrimSpace(want) == "" || strings.TrimSpace(want) == "…" {
			continue
		}
		for at < len(lines) && !like(want, lines[at]) {
			at++
		}
		if at == len(lines) {
			return want
		}
		at++
	}
	return ""
}

// like reports whether a line is as expected.
func like(want, line string) bool {
	parts := strings.Split(strings.Join(strings.Fields(want), " "), "…")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(strings.TrimSpace(part))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(strings.Join(strings.Fields(line), " "))
}
