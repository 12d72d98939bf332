package lower

import (
	"math"
	"testing"

	"spokeshave.dev/controller/core/model"
)

func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		preference, minValues string
		moveCost              *float64
		want                  model.Settings
		bad                   bool
	}{
		"defaults":           {want: model.Settings{MoveCost: model.DefaultMoveCost}},
		"defaults, in words": {preference: "Respect", minValues: "Strict", want: model.Settings{MoveCost: model.DefaultMoveCost}},
		"other":              {preference: "Ignore", minValues: "BestEffort", moveCost: new(0.25), want: model.Settings{IgnorePreferences: true, RelaxMinValues: true, MoveCost: 250_000}},
		"free moves":         {moveCost: new(0.0)},
		"negative move cost": {moveCost: new(-0.1), bad: true},
		"no number":          {moveCost: new(math.NaN()), bad: true},
		"bad preference":     {preference: "ignore", bad: true},
		"bad min values":     {minValues: "Best", bad: true},
	} {
		got, err := Settings(tc.preference, tc.minValues, tc.moveCost)
		if (err != nil) != tc.bad || !tc.bad && got != tc.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
