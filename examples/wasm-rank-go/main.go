// Command wasm-rank-go is a rank policy in Go: it makes the instance families
// in its configuration look dearer than they are, so that they are launched
// only where nothing else will do.
package main

import (
	"errors"
	"slices"
	"strconv"

	"spokeshave.dev/sdk/policy"
)

var (
	_ = policy.Configure(configure)
	_ = policy.Rank(rank)
)

// What the configuration says. Set once, before the first question.
//
//nolint:gochecknoglobals // a module has one configuration
var (
	avoid  []string
	factor float64
	reason string
)

// configure reads {"avoid": ["m7i"], "factor": 3}.
func configure(config *policy.Config) error {
	avoid = config.Strings("avoid")
	factor = config.Float("factor", 3)
	if len(avoid) == 0 {
		return errors.New("config.avoid: name at least one instance family")
	}
	if factor < 1 {
		return errors.New("config.factor: less than 1 would make the families cheaper")
	}
	reason = "family to avoid: cost counted " + strconv.FormatFloat(factor, 'g', -1, 64) + " times"
	return nil
}

// rank multiplies the cost of the families to avoid.
func rank(_ *policy.Pool, rows policy.Rows, out policy.Verdicts) {
	family, dear := uint32(0), false // rows come in runs of one family; id 0 is no family
	for i := range rows.Len() {
		row := rows.At(i)
		if row.Family != family {
			family = row.Family
			dear = slices.Contains(avoid, rows.Text(family))
		}
		if dear {
			out.Score(i, row.Cost*factor)
			out.Reason(i, reason)
		}
	}
}

func main() {}
