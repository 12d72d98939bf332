package quantity

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestExponents(t *testing.T) {
	t.Parallel()
	for text, test := range map[string]struct {
		bounded string
		refused bool
		why     string
	}{
		"16E3311111336":  {bounded: "16E999", refused: true, why: "a fuzzer found it: beyond int32 the library takes it for a negative exponent"},
		"1e-99999999":    {bounded: "1e-999", refused: true, why: "takes a minute and a half"},
		"1e99999999":     {bounded: "1e999", refused: true, why: "read at once, added in minutes"},
		"-1e+2147483647": {bounded: "-1e+999", refused: true, why: "signs are kept"},
		"0e2147483647":   {bounded: "0e999", refused: true, why: "nothing, of which the library computes two thousand million times ten times nothing"},
		"1e0000000003":   {bounded: "1e0000000003", why: "zeros in front do not count"},
		"1e999":          {bounded: "1e999", why: "the largest exponent"},
		"1e-3":           {bounded: "1e-3", why: "a thousandth"},
		"1E":             {bounded: "1E", why: "exa, not an exponent"},
		"1Ei":            {bounded: "1Ei", why: "a binary suffix"},
		"12345678":       {bounded: "12345678", why: "no exponent"},
		"1024Mi":         {bounded: "1024Mi", why: "a suffix"},
		"1m12345":        {bounded: "1m12345", refused: true, why: "no exponent, and not a quantity"},
		"1e+-12345":      {bounded: "1e+-12345", refused: true, why: "two signs"},
		"e12345":         {bounded: "e999", refused: true, why: "no number"},
		"":               {bounded: "", refused: true, why: "nothing"},
		"-":              {bounded: "-", why: "a sign only, which the library reads as nothing"},
	} {
		if got := Bounded(text); got != test.bounded {
			t.Errorf("%q (%s): bounded is %q, want %q", text, test.why, got, test.bounded)
		}
		if _, err := Parse(text); (err != nil) != test.refused {
			t.Errorf("%q (%s): error %v, want refused: %v", text, test.why, err, test.refused)
		}
	}
}

// FuzzParse: what is read is what the library reads, and reading, comparing, adding and writing end.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"16E3311111336", "1e-99999999", "1e99999999", "0e2147483647", "500m", "1.5Gi", "1e3", "-1E+5", "0.0000000001"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bounded := Bounded(text)
		if again := Bounded(bounded); again != bounded {
			t.Errorf("%q is bounded to %q, and that to %q", text, bounded, again)
		}
		q, err := Parse(text)
		if err != nil {
			q, err = Parse(bounded)
		}
		if err != nil {
			return
		}
		_, _, _, _ = q.Value(), q.MilliValue(), q.AsApproximateFloat64(), q.String()
		one := resource.MustParse("1")
		one.Add(q)
		if want, err := resource.ParseQuantity(bounded); err != nil || q.Cmp(want) != 0 {
			t.Errorf("%q is %v, want %v (%v)", text, &q, &want, err)
		}
	})
}
