package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestBudget: targets that go first get a turn before the others, each gets what it has not
// had in earlier runs, one with a finding gets no more, and the page keeps its text.
func TestBudget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "record.md")
	page := "# Fuzzing\n\n" + tableHead + "| `p/FuzzA` | 1m0s | 10 | 0 |\n\nThe end.\n"
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	known, err := readRecord(path)
	if err != nil {
		t.Fatal(err)
	}
	var turns []string
	b := &budget{cpu: 4 * time.Minute, first: regexp.MustCompile("q/"), record: known}
	b.one = func(_ context.Context, tt target, during time.Duration) (effort, string, error) {
		turns = append(turns, fmt.Sprintf("%s %s", tt, during))
		if tt.name == "FuzzB" {
			return effort{cpu: during, execs: 1, findings: 1}, "an input", errors.New("exit status 1")
		}
		return effort{cpu: during, execs: 5}, "", nil
	}
	err = b.run(t.Context(), []target{{pkg: "p", name: "FuzzA"}, {pkg: "p", name: "FuzzB"}, {pkg: "q", name: "FuzzC"}}, &strings.Builder{})
	if err == nil || !strings.Contains(err.Error(), "1 of 3 targets failed, the first: p/FuzzB") {
		t.Errorf("got %v, want the finding", err)
	}
	if got, want := strings.Join(turns, ", "), "q/FuzzC 2m0s, p/FuzzA 2m0s, p/FuzzB 2m0s, q/FuzzC 2m0s, p/FuzzA 1m0s"; got != want {
		t.Errorf("turns were %s, want %s", got, want)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := "# Fuzzing\n\n" + tableHead + "| `p/FuzzA` | 4m0s | 20 | 0 |\n| `p/FuzzB` | 2m0s | 1 | 1 |\n| `q/FuzzC` | 4m0s | 10 | 0 |\n\nThe end.\n"
	if string(text) != want {
		t.Errorf("the page is\n%s\nwant\n%s", text, want)
	}
}

// TestTurnInVain: a turn without a new input does not count, and the next ones are longer, until
// that is no explanation any more.
func TestTurnInVain(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		begins time.Duration // how long the target takes to begin
		turns  string
		err    string
	}{
		"begins late":  {"known inputs take five minutes", 5 * time.Minute, "2m0s 4m0s 8m0s", ""},
		"never begins": {"something is wrong with the target", time.Hour, "2m0s 4m0s 8m0s 16m0s 32m0s", "p/FuzzA: 32m0s were not enough"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "record.md")
			if err := os.WriteFile(path, []byte(tableHead), 0o600); err != nil {
				t.Fatal(err)
			}
			known, err := readRecord(path)
			if err != nil {
				t.Fatal(err)
			}
			var turns []string
			b := &budget{cpu: 3 * time.Minute, first: regexp.MustCompile("q/"), record: known}
			b.one = func(_ context.Context, _ target, during time.Duration) (effort, string, error) {
				turns = append(turns, during.String())
				if during < tc.begins {
					return effort{cpu: during}, "", nil
				}
				return effort{cpu: during, execs: 1}, "", nil
			}
			err = b.run(t.Context(), []target{{pkg: "p", name: "FuzzA"}}, &strings.Builder{})
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: got error %v, want %q", tc.reason, err, tc.err)
			}
			if got := strings.Join(turns, " "); got != tc.turns {
				t.Errorf("%s: turns of %s, want %s", tc.reason, got, tc.turns)
			}
		})
	}
}

// TestBuilder: a target runs with one worker, and its time, inputs and findings are counted.
func TestBuilder(t *testing.T) {
	dir := module(t)
	all, err := targets(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{source: dir, dir: t.TempDir(), built: map[target]string{}}
	for _, each := range all {
		spent, out, err := b.run(t.Context(), each, 3*time.Second)
		if findings := strings.Count(each.name, "Breaks"); spent.findings != findings || (err != nil) != (findings > 0) {
			t.Errorf("%s: %+v, %v\n%s", each, spent, err, out)
		}
		if spent.cpu <= 0 || spent.findings == 0 && spent.execs == 0 {
			t.Errorf("%s: nothing was counted: %+v\n%s", each, spent, out)
		}
	}
}

// TestBadRecord: a table that cannot be read is not overwritten.
func TestBadRecord(t *testing.T) {
	for name, line := range map[string]string{
		"no row":  "| something | else |",
		"no time": "| `p/FuzzA` | an hour | 1 | 0 |",
	} {
		path := filepath.Join(t.TempDir(), "record.md")
		if err := os.WriteFile(path, []byte(tableHead+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readRecord(path); err == nil {
			t.Errorf("%s: %q was read", name, line)
		}
	}
}
