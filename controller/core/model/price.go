package model

import (
	"fmt"
	"math"
)

// Price is an hourly price in micro-dollars (1 USD/hour = 1,000,000). It is an
// integer so that sums are exact and do not depend on their order.
type Price int64

// MaxPrice is the highest price that is taken from what others write: a million dollars an
// hour. Sums over a cluster then do not overflow.
const MaxPrice Price = 1e12

// PriceOf rounds dollars per hour to the nearest micro-dollar. It saturates at the
// ends of the range. NaN gives 0.
func PriceOf(usdPerHour float64) Price {
	micro := math.Round(usdPerHour * 1e6)
	switch {
	case math.IsNaN(micro):
		return 0
	case micro >= math.MaxInt64:
		return math.MaxInt64
	case micro <= math.MinInt64:
		return math.MinInt64
	}
	return Price(micro)
}

// Bounded returns the price, or the nearest one from 0 to MaxPrice.
func (p Price) Bounded() Price { return min(max(p, 0), MaxPrice) }

// USD returns the price in dollars per hour.
func (p Price) USD() float64 { return float64(p) / 1e6 }

// String returns the price in dollars per hour with four decimals ("0.0832"), as EC2
// quotes it.
func (p Price) String() string { return fmt.Sprintf("%.4f", p.USD()) }
