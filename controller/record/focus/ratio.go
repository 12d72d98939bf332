package focus

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/spend"
)

// ratioDigits is how many decimal digits a ratio has, and ratioUnit that power of ten.
const (
	ratioDigits = 9
	ratioUnit   = 1_000_000_000
)

// ratios returns each row's part of what all of them cost, as decimals that add up to
// exactly 1, as FOCUS requires of the split of one charge.
func ratios(of []spend.Row) []string {
	total := uint64(0)
	for i := range of {
		total += uint64(max(0, of[i].Amount.Micro))
	}
	parts, rests, left := make([]uint64, len(of)), make([]uint64, len(of)), uint64(ratioUnit)
	for i := range of {
		if total > 0 {
			hi, lo := bits.Mul64(uint64(max(0, of[i].Amount.Micro)), ratioUnit)
			parts[i], rests[i] = bits.Div64(hi, lo, total) // a part is at most the total, so that hi < total
			left -= parts[i]
		}
	}
	order := make([]int, len(of))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rests[b], rests[a]) })
	if total == 0 && len(parts) > 0 {
		parts[0], left = ratioUnit, 0
	}
	for i := 0; left > 0 && len(order) > 0; i = (i + 1) % len(order) {
		parts[order[i]]++
		left--
	}
	out := make([]string, len(of))
	for i, part := range parts {
		out[i] = decimal(int64(part), ratioDigits)
	}
	return out
}

// decimal writes n / 10^digits without needless zeros.
func decimal(n int64, digits int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	text := strconv.FormatInt(n, 10)
	for len(text) <= digits {
		text = "0" + text
	}
	whole, rest := text[:len(text)-digits], strings.TrimRight(text[len(text)-digits:], "0")
	if rest == "" {
		return sign + whole
	}
	return sign + whole + "." + rest
}
