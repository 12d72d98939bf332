package observe

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// mostNames is how many names of counted nodes and pods are stored. When there are
// more, some may be counted again after a restart.
const mostNames = 10_000

// kept is the stored form of an Observer.
type kept struct {
	Version int      `json:"version"`
	Hours   []Hour   `json:"hours"`
	Now     Now      `json:"now"`
	Nodes   []string `json:"nodes"`
	Planned []string `json:"planned"`
	Going   []string `json:"going"`
}

// Encode returns the Observer's data for Decode.
func (o *Observer) Encode() ([]byte, error) {
	o.mu.Lock()
	hours, now, nodes, planned, going := slices.Clone(o.hours), o.now, o.nodes, o.planned, o.going // the maps are replaced, never changed
	o.mu.Unlock()
	text, err := json.Marshal(kept{
		Version: Version, Hours: hours, Now: now, Nodes: names(nodes), Planned: names(planned), Going: names(going),
	})
	if err != nil {
		return nil, fmt.Errorf("encode what was observed: %w", err)
	}
	return text, nil
}

// Decode replaces the Observer's data by that of another one. On an error o is
// unchanged.
func (o *Observer) Decode(text []byte) error {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return fmt.Errorf("read what was observed: %w", err)
	}
	if k.Version != Version {
		return fmt.Errorf("read what was observed: version %d, this program reads %d", k.Version, Version)
	}
	k.Hours = k.Hours[max(0, len(k.Hours)-keep):]
	for i := range k.Hours {
		h := &k.Hours[i]
		if i > 0 && !k.Hours[i-1].Start.Before(h.Start) {
			return fmt.Errorf("read what was observed: hour %s does not go with the others", h.Start)
		}
		h.Seconds = min(h.Seconds, mostSeconds) // more where the clock was put back
		if h.Seconds < 0 || !h.Really.valid() || !h.Would.valid() {
			return fmt.Errorf("read what was observed: hour %s: %+v", h.Start, *h)
		}
	}
	if n := &k.Now; !counts(n.Launch, n.Remove, n.Waiting) || n.Rate < 0 || n.Saves < 0 {
		return fmt.Errorf("read what was observed: now: %+v", *n)
	}
	if _, err := json.Marshal(k); err != nil { // some times can be read and not written
		return fmt.Errorf("read what was observed: %w", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hours, o.now = k.Hours, k.Now
	o.nodes, o.planned, o.going = set(k.Nodes), set(k.Planned), set(k.Going)
	if len(k.Nodes) == mostNames { // the others would seem to be new
		o.nodes = nil
	}
	return nil
}

// mostSeconds is how many seconds count for an hour at most: its own, and the last gap of the
// hour before.
const mostSeconds = int64((time.Hour + gap) / time.Second)

// mostCount and mostPrice are the largest numbers and prices that are read of a side; those of
// all hours together then do not overflow.
const (
	mostCount = 1 << 40
	mostPrice = model.Price(math.MaxInt64 / (2 * keep))
)

// valid reports whether Add can produce the side.
func (s *Side) valid() bool {
	return s.Cost.Valid() && counts(s.Launched, s.Removed) && s.Price >= 0 && s.Price <= mostPrice
}

// counts reports whether the numbers are counts of something.
func counts(all ...int) bool {
	return !slices.ContainsFunc(all, func(n int) bool { return n < 0 || n > mostCount })
}

func names(in map[string]bool) []string {
	out := slices.Sorted(maps.Keys(in))
	return out[:min(len(out), mostNames)]
}

func set(in []string) map[string]bool {
	out := make(map[string]bool, len(in))
	for _, name := range in {
		out[name] = true
	}
	return out
}
