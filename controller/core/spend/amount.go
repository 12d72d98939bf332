package spend

import (
	"math"
	"math/bits"
	"time"

	"spokeshave.dev/controller/core/model"
)

// unit is how many micro-dollar nanoseconds per hour make one micro-dollar.
const unit = uint64(time.Hour)

// Amount is an exact sum of money: whole micro-dollars, and the fraction accrued
// towards the next one. A sum does not depend on the intervals in which it was
// accrued: a node at 0.0001 $/h that is charged every second still adds up.
type Amount struct {
	Micro int64 `json:"micro"`
	// Rest is the fraction, in micro-dollars per hour times nanoseconds. It is less
	// than one hour in nanoseconds.
	Rest uint64 `json:"rest,omitempty"`
}

// Accrue adds the cost of the hourly price over d. A price or duration of zero or
// less adds nothing. The sum saturates at math.MaxInt64 micro-dollars.
func (a *Amount) Accrue(price model.Price, d time.Duration) {
	if price <= 0 || d <= 0 {
		return
	}
	hi, lo := bits.Mul64(uint64(price), uint64(d))
	if hi >= unit {
		a.Micro, a.Rest = math.MaxInt64, 0
		return
	}
	whole, rest := bits.Div64(hi, lo, unit)
	a.add(whole, rest)
}

// Plus adds another amount.
func (a *Amount) Plus(b Amount) {
	if b.Micro >= 0 {
		a.add(uint64(b.Micro), b.Rest)
	}
}

func (a *Amount) add(whole, rest uint64) {
	rest += a.Rest
	sum, carry := bits.Add64(uint64(a.Micro), whole, rest/unit)
	// The carry into Add64 must be 0 or 1: both rests are below one unit.
	if carry != 0 || sum > math.MaxInt64 {
		a.Micro, a.Rest = math.MaxInt64, 0
		return
	}
	a.Micro, a.Rest = int64(sum), rest%unit
}

// Valid reports whether Accrue and Plus can produce the amount.
func (a *Amount) Valid() bool { return a.Micro >= 0 && a.Rest < unit }

// USD returns the amount in dollars, without the fraction of a micro-dollar.
func (a *Amount) USD() float64 { return float64(a.Micro) / 1e6 }

// portion returns price × parts / total, rounded down, without overflow. parts must
// not exceed total.
func portion(price model.Price, parts, total int64) model.Price {
	if price <= 0 || parts <= 0 || total <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(price), uint64(parts))
	part, _ := bits.Div64(hi, lo, uint64(total)) // parts ≤ total, so that hi < total
	return model.Price(part)
}
