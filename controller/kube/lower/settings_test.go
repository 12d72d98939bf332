package lower

import (
	"testing"

	"spokeshave.dev/controller/core/model"
)

func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		preference, minValues string
		want                  model.Settings
		bad                   bool
	}{
		"defaults":           {},
		"defaults, in words": {preference: "Respect", minValues: "Strict"},
		"other":              {preference: "Ignore", minValues: "BestEffort", want: model.Settings{IgnorePreferences: true, RelaxMinValues: true}},
		"bad preference":     {preference: "ignore", bad: true},
		"bad min values":     {minValues: "Best", bad: true},
	} {
		got, err := Settings(tc.preference, tc.minValues)
		if (err != nil) != tc.bad || got != tc.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
