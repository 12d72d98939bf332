package fault

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is written as Go does ("1.5s") or as a number of milliseconds.
type Duration struct{ time.Duration }

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	var ms float64
	if err := json.Unmarshal(raw, &ms); err == nil {
		d.Duration = time.Duration(ms * float64(time.Millisecond))
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("read duration %s: want \"1.5s\" or milliseconds", raw)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("read duration %q: %w", text, err)
	}
	d.Duration = parsed
	return nil
}
