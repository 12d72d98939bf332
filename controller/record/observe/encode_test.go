package observe

import (
	"testing"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// FuzzDecode: what is read can be written and read again as the same, and another decision can be
// added to it; its sums are not negative. What cannot be read changes nothing.
func FuzzDecode(f *testing.F) {
	var o Observer
	o.Add(snapshot(0, model.Node{Name: "n1", Claim: "n1", Price: 600_000}), &decide.Decision{})
	o.Add(snapshot(5, model.Node{Name: "n2", Claim: "n2", Price: 600_000}), &decide.Decision{})
	text, err := o.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"hours":[{"start":"2026-03-11T09:00:00Z","seconds":9223372036854775807,"really":{"cost":{"micro":9223372036854775807},"launched":-1,"launchedPrice":-5}},{"start":"2026-03-11T10:00:00Z","seconds":9223372036854775807}],"now":{"time":"2026-03-11T09:00:00Z","rate":-9,"saves":9223372036854775807}}`))
	f.Add([]byte(`{"version":1,"now":{"time":"2026-03-11T09:00:00+24:00"}}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got Observer
		if err := got.Decode(text); err != nil {
			if len(got.hours) > 0 || !got.now.Time.IsZero() || got.nodes != nil {
				t.Errorf("%+v after %v", got.Report(), err)
			}
			return
		}
		written, err := got.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		var again Observer
		if err := again.Decode(written); err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if twice, err := again.Encode(); err != nil || string(twice) != string(written) {
			t.Errorf("%s became %s: %v", written, twice, err)
		}
		checkSums(t, &got)
		got.Add(snapshot(30, model.Node{Name: "n1", Claim: "n1", Price: 600_000}), &decide.Decision{})
		checkSums(t, &got)
	})
}

// checkSums fails if a sum of what was observed is negative.
func checkSums(t *testing.T, o *Observer) {
	t.Helper()
	r := o.Report()
	total := r.Total()
	if len(r.Hours) > keep {
		t.Errorf("%d hours", len(r.Hours))
	}
	for _, side := range []Side{total.Really, total.Would} {
		if !side.Cost.Valid() || side.Launched < 0 || side.Removed < 0 || side.Price < 0 {
			t.Errorf("%+v", side)
		}
	}
	if total.Seconds < 0 || r.Now.Rate < 0 || r.Now.Launch < 0 || r.Now.Remove < 0 || r.Now.Waiting < 0 {
		t.Errorf("%d seconds, %+v", total.Seconds, r.Now)
	}
}
