package v1_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// TestKubeletExtra: fields that the type does not know survive, and a field
// that was set in Go wins over a leftover of the same name.
func TestKubeletExtra(t *testing.T) {
	var k awsv1.KubeletConfiguration
	in := `{"maxPods":110,"MaxPods":5,"cpuManagerPolicy":"static","nested":{"a":[1]}}`
	if err := json.Unmarshal([]byte(in), &k); err != nil {
		t.Fatal(err)
	}
	if k.MaxPods == nil || *k.MaxPods != 110 {
		t.Errorf("maxPods is %v, want 110: names are case-sensitive", k.MaxPods)
	}
	want := map[string]json.RawMessage{
		"MaxPods":          json.RawMessage(`5`),
		"cpuManagerPolicy": json.RawMessage(`"static"`),
		"nested":           json.RawMessage(`{"a":[1]}`),
	}
	if diff := cmp.Diff(want, k.Extra); diff != "" {
		t.Errorf("extra fields (-want +got):\n%s", diff)
	}
	k.Extra["maxPods"] = json.RawMessage(`1`)
	out, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sorted(t, []byte(in)), sorted(t, out)); diff != "" {
		t.Errorf("written back (-want +got):\n%s", diff)
	}
}

// TestKubeletPeriods: grace periods that are no durations are told of, and everything else is read; what
// is written back is what was read.
func TestKubeletPeriods(t *testing.T) {
	for in, want := range map[string]string{
		`{"maxPods":110,"evictionSoftGracePeriod":{"memory.available":"90s"}}`:                         "",
		`{"maxPods":110,"evictionSoftGracePeriod":{"memory.available":"1d","nodefs.available":"90s"}}`: `evictionSoftGracePeriod.memory.available: "1d" is not a duration such as 90s or 1h30m`,
		`{"maxPods":110,"evictionSoftGracePeriod":{"memory.available":"9999999999h"}}`:                 `evictionSoftGracePeriod.memory.available: "9999999999h" is not a duration such as 90s or 1h30m`,
	} {
		var k awsv1.KubeletConfiguration
		if err := json.Unmarshal([]byte(in), &k); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if k.Problem != want || *k.MaxPods != 110 || (len(k.EvictionSoftGracePeriod) > 0) != (want == "") {
			t.Errorf("%s: read as %+v with the problem %q, want %q", in, k, k.Problem, want)
		}
		out, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" && string(sorted(t, []byte(in))) != string(sorted(t, out)) || string(k.Source) != in {
			t.Errorf("%s: written back as %s, the source is %s", in, out, k.Source)
		}
	}
}

func sorted(t *testing.T, b []byte) string {
	t.Helper()
	var v any
	read := json.NewDecoder(bytes.NewReader(b))
	read.UseNumber() // a field that nobody knows may have a number that no float64 holds
	if err := read.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// FuzzKubeletConfiguration: a configuration that is read without an error is written
// without one, and is equal when it is read again.
func FuzzKubeletConfiguration(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"maxPods":1}`, `{"x":{}}`, `{"MaxPods":null}`, `{"evictionSoftGracePeriod":{"a":"1m"}}`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var k awsv1.KubeletConfiguration
		if json.Unmarshal(in, &k) != nil {
			return
		}
		out, err := json.Marshal(k)
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		var again awsv1.KubeletConfiguration
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s: written as %s: %v", in, out, err)
		}
		twice, err := json.Marshal(again)
		if err != nil || sorted(t, twice) != sorted(t, out) {
			t.Fatalf("%s: written as %s, then as %s (%v)", in, out, twice, err)
		}
	})
}
