package v1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestNillableDuration(t *testing.T) {
	tests := map[string]struct {
		reason  string
		in      string
		want    time.Duration
		elapses bool
		err     string
	}{
		"seconds":  {reason: "a Go duration", in: `"30s"`, want: 30 * time.Second, elapses: true},
		"compound": {reason: "units add up", in: `"1h30m"`, want: 90 * time.Minute, elapses: true},
		"zero":     {reason: "zero elapses at once, which is not never", in: `"0s"`, want: 0, elapses: true},
		"longest":  {reason: "the schema lets pass what no time.Duration holds", in: `"99999999999999999999h1s"`, want: 2562047 * time.Hour, elapses: true},
		"sum":      {reason: "so does a sum", in: `"2562047h2562047h"`, want: 2562047 * time.Hour, elapses: true},
		"never":    {reason: "Never has no duration", in: `"Never"`},
		"case":     {reason: "the word is exact", in: `"never"`, err: `"never"`},
		"negative": {reason: "time does not run backwards", in: `"-1h"`, err: `"-1h"`},
		"number":   {reason: "a bare number has no unit", in: `720`, err: "want a string"},
		"unit":     {reason: "Go has no days", in: `"30d"`, err: "want a duration such as"},
		"empty":    {reason: "an empty string says nothing", in: `""`, err: `""`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var d karpv1.NillableDuration
			err := json.Unmarshal([]byte(tc.in), &d)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: got error %v, want one with %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			got, ok := d.Duration()
			if got != tc.want || ok != tc.elapses {
				t.Errorf("%s: got %v, %v, want %v, %v", tc.reason, got, ok, tc.want, tc.elapses)
			}
			out, err := json.Marshal(d)
			if err != nil || string(out) != tc.in {
				t.Errorf("%s: written back as %s (%v), want %s", tc.reason, out, err, tc.in)
			}
		})
	}
}

// TestDuration: a duration that is read is written so that the API server's schema takes it.
func TestDuration(t *testing.T) {
	for in, want := range map[string]string{
		`"30s"`: `"30s"`, `"90m"`: `"1h30m0s"`, `"9999999999h"`: `"2562047h0m0s"`, `"153722867281m"`: `"2562047h0m0s"`, `"30d"`: "", `3`: "",
	} {
		var d karpv1.Duration
		if err := json.Unmarshal([]byte(in), &d); (err != nil) != (want == "") {
			t.Errorf("%s: %v", in, err)
		} else if got, err := json.Marshal(d); err != nil || want != "" && string(got) != want {
			t.Errorf("%s is written as %s (%v), want %s", in, got, err, want)
		}
	}
}

// FuzzNillableDuration: a value that is read without an error is never negative, and is
// written back with the same meaning.
func FuzzNillableDuration(f *testing.F) {
	for _, s := range []string{`"30s"`, `"Never"`, `"1h30m"`, `null`, `""`, `"-1s"`, `"9223372036854775807ns"`, `"\u004eever"`, `{}`, `"9999999999h"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var d karpv1.NillableDuration
		if json.Unmarshal(in, &d) != nil {
			return
		}
		v, ok := d.Duration()
		if v < 0 || ok == (d == "" || d == karpv1.Never) {
			t.Fatalf("%q: duration %v, %v", d, v, ok)
		}
		if d == "" {
			return // null says nothing, and nothing is omitted when written
		}
		out, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again karpv1.NillableDuration
		if err := json.Unmarshal(out, &again); err != nil || again != d {
			t.Fatalf("%s read back as %q (%v), want %q", out, again, err, d)
		}
	})
}
