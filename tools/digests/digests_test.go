package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// share is how many of the recorded scenarios the tests plan: some of each kind.
const share = "96"

// TestRecorded: plans are those on record. When a change is to make other plans,
// "make digests" shows what they cost, and "record" puts them on record.
func TestRecorded(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"compare", "-seeds", share}, &out, io.Discard); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestCompare plants differences in a record.
func TestCompare(t *testing.T) {
	const record = columns + "\n0 plain aa 2.00000 3 4 10.0\n1 policies bb 1.00000 1 1 20.0\n"
	cases := map[string]struct {
		reason, now string
		want        []string
		differ      bool
	}{
		"same": {
			reason: "cost and time alone are no difference", now: strings.ReplaceAll(record, "10.0", "15.0"),
			want: []string{"all 2 0 3.000 3.000 4 4 5 0.03 0.04 +16.67 %"},
		},
		"other": {
			reason: "a row for the one that differs", now: strings.ReplaceAll(record, "bb 1.00000 1 1", "cc 1.50000 0 1"), differ: true,
			want: []string{"1 policies 1.0000 1.5000 +50.00 % 1 0 1 20.0 20.0", "all 2 1 3.000 3.500 +16.67 % 4 3 5 0.03 0.03"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, err := read(strings.NewReader(record), 9)
			if err != nil {
				t.Fatal(err)
			}
			after, err := read(strings.NewReader(tc.now), 9)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := compare(before, after, &out); errors.Is(err, errDiffer) != tc.differ {
				t.Errorf("%s: %v", tc.reason, err)
			}
			text := strings.Join(strings.Fields(out.String()), " ")
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: no %q in\n%s", tc.reason, want, out.String())
				}
			}
		})
	}
}

// TestRecordAndCompare: what was recorded is found again, and a line that was
// changed is found out.
func TestRecordAndCompare(t *testing.T) {
	path := t.TempDir() + "/digests.txt"
	if err := run([]string{"record", "-out", path, "-seeds", "9"}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"compare", "-with", path, "-runs", "2"}, io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	m := meter{runs: 1, progress: io.Discard}
	all := m.all(9)
	all[8].digest = "0123456789abcdef"
	if err := record(path, all); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"compare", "-with", path}, io.Discard, io.Discard); !errors.Is(err, errDiffer) {
		t.Errorf("a digest that was changed: %v", err)
	}
}

// TestMistakes: what cannot be compared says so.
func TestMistakes(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"command": {args: []string{"measure"}, want: "record or compare"},
		"seeds":   {args: []string{"compare", "-seeds", "0"}, want: "-seeds 0"},
		"file":    {args: []string{"compare", "-with", "nowhere.txt"}, want: "nowhere.txt"},
		"text":    {args: []string{"compare", "-with", "go.mod"}, want: "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(tc.args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
