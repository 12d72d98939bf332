package spend

import (
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Saved is what the consolidations of a day have saved, in UTC.
type Saved struct {
	Day   time.Time `json:"day"`
	Count int       `json:"count"`
	// Rate is the hourly price of the nodes that were removed less that of their
	// replacements, at the prices of the time.
	Rate model.Price `json:"rate"`
}

const (
	// savedDays is how many days with consolidations the ledger keeps.
	savedDays = 366
	// savedKeys is how many of the last consolidations it knows by key.
	savedKeys = 100
)

// Save returns the ledger with a consolidation that was carried out. One whose key is
// among the last ones is counted already: it is seen again until its nodes are gone, by
// the next leader as well.
func (l *Ledger) Save(key string, at time.Time, rate model.Price) Ledger {
	next := *l
	if slices.Contains(l.SavedKeys, key) {
		return next
	}
	next.SavedKeys = append(slices.Clone(l.SavedKeys), key)
	next.SavedKeys = next.SavedKeys[max(0, len(next.SavedKeys)-savedKeys):]
	next.Saved = slices.Clone(l.Saved)
	day := at.UTC().Truncate(24 * time.Hour)
	i, there := slices.BinarySearchFunc(next.Saved, day, func(s Saved, day time.Time) int { return s.Day.Compare(day) })
	if !there {
		next.Saved = slices.Insert(next.Saved, i, Saved{Day: day})
	}
	next.Saved[i].Count++
	next.Saved[i].Rate += rate
	next.Saved = next.Saved[max(0, len(next.Saved)-savedDays):]
	return next
}

// SavedSince returns the sum of the days from a time on.
func (l *Ledger) SavedSince(from time.Time) Saved {
	var sum Saved
	for _, s := range l.Saved {
		if s.Day.Before(from.UTC().Truncate(24 * time.Hour)) {
			continue
		}
		if sum.Count == 0 {
			sum.Day = s.Day
		}
		sum.Count += s.Count
		sum.Rate += s.Rate
	}
	return sum
}
