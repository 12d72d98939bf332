package lower

import "time"

// timeOf parses a time in RFC 3339. ok is false for any other text, and for a time that no
// snapshot can be written with (writable).
func timeOf(text string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, false
	}
	return writable(at)
}

// writable returns the time in UTC. ok is false when its year is then not from 0 to 9999: JSON has
// no such times.
func writable(at time.Time) (_ time.Time, ok bool) {
	at = at.UTC()
	if year := at.Year(); year < 0 || year > 9999 {
		return time.Time{}, false
	}
	return at, true
}
