package lower

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// The values of the settings preferencePolicy and minValuesPolicy, as in
// Karpenter. The first of each is the default.
const (
	PreferenceRespect   = "Respect"
	PreferenceIgnore    = "Ignore"
	MinValuesStrict     = "Strict"
	MinValuesBestEffort = "BestEffort"
)

// Settings reads the two policies; an empty one is the default.
func Settings(preference, minValues string) (model.Settings, error) {
	var out model.Settings
	switch preference {
	case "", PreferenceRespect:
	case PreferenceIgnore:
		out.IgnorePreferences = true
	default:
		return out, fmt.Errorf("preference policy %q: use %s or %s", preference, PreferenceRespect, PreferenceIgnore)
	}
	switch minValues {
	case "", MinValuesStrict:
	case MinValuesBestEffort:
		out.RelaxMinValues = true
	default:
		return out, fmt.Errorf("min values policy %q: use %s or %s", minValues, MinValuesStrict, MinValuesBestEffort)
	}
	return out, nil
}
