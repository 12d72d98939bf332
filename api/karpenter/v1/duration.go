package v1

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

// longest is the longest duration that is read, 292 years in whole hours. The API server's schema lets
// 9999999999h pass, which time.Duration cannot hold; refusing it would keep all objects of its kind from
// being read.
const longest = 2562047 * time.Hour

// wholeUnits matches the durations that the API server's schema lets pass.
var wholeUnits = regexp.MustCompile(`^([0-9]+[hms])+$`)

// parseDuration reads a Go duration, one longer than [longest] as that.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil && wholeUnits.MatchString(text) {
		return longest, nil
	}
	return min(d, longest), err
}

// Duration is a Go duration: metav1.Duration, but that one longer than 292 years is read as that.
//
// +kubebuilder:validation:Type=string
type Duration struct{ time.Duration }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err //nolint:wrapcheck // the decoder adds the field's path to an error of this type
	}
	v, err := parseDuration(text)
	if err != nil {
		return fmt.Errorf("parse duration %q: want one such as 30s, 15m or 1h30m", text)
	}
	d.Duration = v
	return nil
}

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// Never is the NillableDuration that does not elapse.
const Never NillableDuration = "Never"

// NillableDuration is a Go duration, or Never. It keeps the text it was read
// from, so that writing an object back changes nothing that its author wrote
// ("60m" stays "60m"). The empty value means that nothing was said.
//
// +kubebuilder:validation:Pattern=`^(([0-9]+(s|m|h))+|Never)$`
type NillableDuration string

// ParseNillableDuration checks that text is Never or a Go duration that is not negative.
func ParseNillableDuration(text string) (NillableDuration, error) {
	if text == string(Never) {
		return Never, nil
	}
	d, err := parseDuration(text)
	if err != nil || d < 0 {
		return "", fmt.Errorf("parse duration %q: want a duration such as 30s, 15m or 1h30m, or %s", text, Never)
	}
	return NillableDuration(text), nil
}

// Duration returns the duration and true, or false when d is Never, empty or
// not a duration.
func (d NillableDuration) Duration() (time.Duration, bool) {
	if d == "" || d == Never {
		return 0, false
	}
	v, err := parseDuration(string(d))
	return v, err == nil && v >= 0
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *NillableDuration) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("parse duration %s: want a string: %w", b, err)
	}
	v, err := ParseNillableDuration(text)
	if err != nil {
		return err
	}
	*d = v
	return nil
}
