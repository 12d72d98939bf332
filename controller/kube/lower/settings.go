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

// Settings reads the two policies and what a move costs, in USD/hour; an empty policy and
// nil are the defaults.
func Settings(preference, minValues string, moveCost *float64) (model.Settings, error) {
	out := model.Settings{MoveCost: model.DefaultMoveCost}
	if moveCost != nil {
		if err := checkMoveCost(*moveCost); err != nil {
			return out, fmt.Errorf("move cost %w", err)
		}
		out.MoveCost = model.PriceOf(*moveCost)
	}
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
