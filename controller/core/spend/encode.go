package spend

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Encode returns the ledger as JSON, which Decode reads.
func (l *Ledger) Encode() ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("encode ledger: %w", err)
	}
	return text, nil
}

// ErrNewer says that a ledger was written by a newer version of the program.
var ErrNewer = errors.New("written by a newer version")

// Decode reads an encoded ledger. It returns an error for another version, ErrNewer for
// a newer one, and for amounts that no ledger can have.
func Decode(text []byte) (Ledger, error) {
	var l Ledger
	if err := json.Unmarshal(text, &l); err != nil {
		return Ledger{}, fmt.Errorf("read ledger: %w", err)
	}
	if l.Version > LedgerVersion {
		return Ledger{}, fmt.Errorf("read ledger: %w: version %d, this program reads %d", ErrNewer, l.Version, LedgerVersion)
	}
	if l.Version != LedgerVersion {
		return Ledger{}, fmt.Errorf("read ledger: version %d, this program reads %d", l.Version, LedgerVersion)
	}
	if l.Month.IsZero() || l.Month != monthStart(l.Month) || l.Through.Before(l.Month) || l.Through.After(l.Month.AddDate(0, 1, 0)) {
		return Ledger{}, fmt.Errorf("read ledger: month %s and through %s do not go together", l.Month, l.Through)
	}
	for i := range l.Pools {
		if !l.Pools[i].Amount.Valid() || l.Pools[i].Rate < 0 {
			return Ledger{}, fmt.Errorf("read ledger: pool entry %d: amount %+v, rate %d", i, l.Pools[i].Amount, l.Pools[i].Rate)
		}
	}
	for i := range l.Holders {
		if !l.Holders[i].Amount.Valid() || l.Holders[i].Rate < 0 {
			return Ledger{}, fmt.Errorf("read ledger: holder entry %d: amount %+v, rate %d", i, l.Holders[i].Amount, l.Holders[i].Rate)
		}
	}
	if !l.Days.IsZero() && !monthStart(l.Days.Today.From).Equal(l.Month) {
		return Ledger{}, fmt.Errorf("read ledger: the day of %s is not in the month of %s", l.Days.Today.From, l.Month)
	}
	return l, nil
}

func rentedBy(s *model.Snapshot, n *model.Node) Rented {
	name, labels := n.PoolName, n.PoolLabels
	if n.Pool >= 0 {
		name, labels = s.Pools[n.Pool].Name, s.Pools[n.Pool].Labels
	}
	family, _, _ := strings.Cut(n.InstanceType, ".")
	return Rented{Pool: name, Labels: strings.Join(labelsOf(labels), ","), Family: family, CapacityType: n.CapacityType}
}

// pools returns the entries in order, without those that have neither rate nor
// amount.
func pools(in map[Rented]*PoolSpend) []PoolSpend {
	var out []PoolSpend
	for _, p := range in {
		if p.Rate > 0 || p.Amount != (Amount{}) {
			out = append(out, *p)
		}
	}
	slices.SortFunc(out, func(a, b PoolSpend) int { return compareRented(a.Rented, b.Rented) })
	return out
}

func holders(in map[Holder]*HeldSpend) []HeldSpend {
	var out []HeldSpend
	for _, h := range in {
		if h.Rate > 0 || h.Amount != (Amount{}) {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b HeldSpend) int { return compare(a.Holder, b.Holder) })
	return out
}
