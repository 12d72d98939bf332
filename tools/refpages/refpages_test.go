package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCurrent fails when the API or the chart has changed and the pages have not.
func TestCurrent(t *testing.T) {
	const root = "../.."
	all, err := pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		got, err := os.ReadFile(filepath.Join(root, folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s/%s is stale, run make generate:\n%s", folder, name, diff)
		}
	}
}

func TestProse(t *testing.T) {
	for in, want := range map[string]string{
		"a <b> of\n two":     `a \<b> of two`,
		`"*" stands for all`: `"\*" stands for all`,
		"code `a<b|c`":       "code `a<b|c`",
		"one | two":          `one \| two`,
	} {
		if got := prose(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
