package main

import (
	"github.com/spf13/pflag"

	"spokeshave.dev/controller/core/model"
)

// moveCostFlag declares --move-cost and lets usd point at its value.
func moveCostFlag(fs *pflag.FlagSet, usd **float64) {
	*usd = fs.Float64("move-cost", model.DefaultMoveCost.USD(), "what consolidation has to save for each pod that it moves, in USD/hour, as the controller's setting")
}
