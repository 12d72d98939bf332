package disrupt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChoices: of the variants of a proposal those without repair come first, unless one with
// repair gains more by over a twentieth.
func TestChoices(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		sound, waiting []float64 // gains in USD/hour, without and with repair
		want           []float64
	}{
		"nothing":       {reason: "no variant pays", want: []float64{}},
		"sound only":    {reason: "the largest gain comes first", sound: []float64{1, 3, 2}, want: []float64{3, 2, 1}},
		"waiting only":  {reason: "one that pays is better than none", waiting: []float64{1, 2}, want: []float64{2, 1}},
		"equal":         {reason: "nobody waits for the same gain", sound: []float64{2}, waiting: []float64{2}, want: []float64{2}},
		"little more":   {reason: "a gain larger by four hundredths is not worth waiting for", sound: []float64{1, 0.5}, waiting: []float64{1.04}, want: []float64{1, 0.5}},
		"more":          {reason: "one larger by a tenth is", sound: []float64{1, 0.5}, waiting: []float64{1.1}, want: []float64{1.1, 1, 0.5}},
		"some are more": {reason: "once one with repair comes first, all are fallbacks by their gain", sound: []float64{1}, waiting: []float64{0.8, 1.1}, want: []float64{1.1, 1, 0.8}},
	} {
		t.Run(name, func(t *testing.T) {
			var sound, waiting []*Proposal
			for _, g := range tc.sound {
				sound = append(sound, &Proposal{Removed: g})
			}
			for _, g := range tc.waiting {
				waiting = append(waiting, &Proposal{Removed: g + 1, Repair: 1})
			}
			got := []float64{}
			for _, p := range choices(sound, waiting) {
				got = append(got, p.Gain())
			}
			round := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
			if diff := cmp.Diff(tc.want, got, round); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}
