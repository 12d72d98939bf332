package v1

import (
	"encoding/json"
	"fmt"
	"time"
)

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
	d, err := time.ParseDuration(text)
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
	v, err := time.ParseDuration(string(d))
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
