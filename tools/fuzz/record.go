package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// effort is what was spent on a target so far, in all runs that the record knows.
type effort struct {
	// cpu is the processor time of the fuzzing processes, to the second.
	cpu time.Duration
	// execs is how many inputs were tried, findings how many runs ended with a failure.
	execs, findings int
}

// record is a page with a table of efforts by target. What is before and after the table is
// kept as it is.
type record struct {
	path          string
	before, after string
	efforts       map[string]effort
}

// The table's first lines, by which it is found.
const (
	tableHead = "| target | processor time | executions | findings |\n|---|---|---|---|\n"
	newPage   = "# Measurements: fuzzing\n\n"
)

var row = regexp.MustCompile("^\\| `([^`]+)` \\| (\\S+) \\| (\\d+) \\| (\\d+) \\|$")

// readRecord reads a page. One that does not exist is an empty one.
func readRecord(path string) (*record, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &record{path: path, before: newPage, efforts: map[string]effort{}}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	before, table, found := strings.Cut(string(text), tableHead)
	r := &record{path: path, before: before, efforts: map[string]effort{}}
	if !found {
		return r, nil
	}
	for len(table) > 0 && table[0] == '|' {
		line, rest, _ := strings.Cut(table, "\n")
		name, e, err := parseRow(line)
		if err != nil {
			return nil, fmt.Errorf("read record %s: %w", path, err)
		}
		r.efforts[name], table = e, rest
	}
	r.after = table
	return r, nil
}

func parseRow(line string) (string, effort, error) {
	m := row.FindStringSubmatch(line)
	if m == nil {
		return "", effort{}, fmt.Errorf("%q is no row of the table", line)
	}
	cpu, err := time.ParseDuration(m[2])
	if err != nil {
		return "", effort{}, fmt.Errorf("row of %s: %w", m[1], err)
	}
	e := effort{cpu: cpu}
	for into, text := range map[*int]string{&e.execs: m[3], &e.findings: m[4]} {
		if *into, err = strconv.Atoi(text); err != nil {
			return "", effort{}, fmt.Errorf("row of %s: %w", m[1], err)
		}
	}
	return m[1], e, nil
}

// add adds an effort to a target's and writes the page.
func (r *record) add(t target, more effort) error {
	sum := r.efforts[t.String()]
	sum.cpu += more.cpu
	sum.execs += more.execs
	sum.findings += more.findings
	r.efforts[t.String()] = sum
	var b strings.Builder
	b.WriteString(r.before + tableHead)
	names := make([]string, 0, len(r.efforts))
	for name := range r.efforts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		e := r.efforts[name]
		fmt.Fprintf(&b, "| `%s` | %s | %d | %d |\n", name, e.cpu.Round(time.Second), e.execs, e.findings)
	}
	b.WriteString(r.after)
	if err := os.WriteFile(r.path, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}
