package v1

import (
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
)

// FuzzResourceList: whatever amounts the API server keeps, each is read at once, and is the same
// after it is written again, unless it is endless. What is no amount is -1; what is no object is
// an error.
func FuzzResourceList(f *testing.F) {
	for _, amount := range []string{`100`, `"100m"`, `"1e-99999999"`, `"16E3311111336"`, `"16E331111133 "`, `"1e1.5"`, `"99999999999999999999Ei"`, `""`, `null`, `true`, `{}`, `1e5`, `1.5e-3`, `"-1.5Gi"`, `"0x1"`, `" 1"`, `"1e999"`, `"1e-999"`} {
		f.Add(`{"cpu":` + amount + `,"memory":"1Gi"}`)
	}
	f.Add(`{"cpu":"1600000000e999"}`) // is written as 1600e1005, which is read as 1600e999
	f.Add(`{"cpu":"200000E"}`)        // the library writes it as 200
	f.Add(`{"cpu":"-2000E","memory":"2000000000000000000000"}`)
	f.Add(`null`)
	f.Add(`[1]`)
	f.Add(`{"cpu":1,"cpu":2,"CPU":3}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		var got ResourceList
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			if got != nil {
				t.Errorf("%v and %v", got, err)
			}
			return
		}
		written, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		var again ResourceList
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if len(again) != len(got) {
			t.Errorf("%s became %s", text, written)
		}
		for name, q := range got {
			if other := again[name]; utf8.ValidString(string(name)) && q.Cmp(other) != 0 && (!endless(q) || !endless(other)) {
				t.Errorf("%s was %s and is %s", name, &q, &other)
			}
			sum := q.DeepCopy()
			sum.Add(q) // takes minutes where an exponent has many digits
		}
	})
}

// endless reports whether an amount is beyond what a float64 can be.
func endless(q resource.Quantity) bool { return math.IsInf(q.AsApproximateFloat64(), 0) }
