package lower

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cron is a schedule of five fields: minute, hour, day of month, month, day of
// week, each a set of the numbers it holds for.
type cron struct {
	minute, hour, day, month, weekday uint64
	// anyDay and anyWeekday: the field begins with *. If neither does, one of
	// the two is enough, as in every cron.
	anyDay, anyWeekday bool
}

func parseCron(text string) (cron, error) {
	switch text {
	case "@yearly", "@annually":
		text = "0 0 1 1 *"
	case "@monthly":
		text = "0 0 1 * *"
	case "@weekly":
		text = "0 0 * * 0"
	case "@daily", "@midnight":
		text = "0 0 * * *"
	case "@hourly":
		text = "0 * * * *"
	}
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return cron{}, fmt.Errorf("parse schedule %q: want five fields or a macro such as @daily", text)
	}
	c := cron{anyDay: strings.ContainsAny(fields[2][:1], "*?"), anyWeekday: strings.ContainsAny(fields[4][:1], "*?")}
	months := []string{"", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	weekdays := []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	for i, f := range []struct {
		into     *uint64
		low, top int
		names    []string
	}{
		{&c.minute, 0, 59, nil},
		{&c.hour, 0, 23, nil},
		{&c.day, 1, 31, nil},
		{&c.month, 1, 12, months},
		{&c.weekday, 0, 7, weekdays},
	} {
		set, err := parseField(fields[i], f.low, f.top, f.names)
		if err != nil {
			return cron{}, fmt.Errorf("parse schedule %q: %w", text, err)
		}
		*f.into = set
	}
	c.weekday |= c.weekday >> 7 & 1 // 7 is Sunday too
	return c, nil
}

// parseField reads a list of numbers, ranges and steps: "1,5-9,*/15".
func parseField(text string, low, top int, names []string) (uint64, error) {
	var set uint64
	for part := range strings.SplitSeq(text, ",") {
		span, step, stepped := strings.Cut(part, "/")
		every := 1
		if stepped {
			n, err := strconv.Atoi(step)
			if err != nil || n < 1 {
				return 0, fmt.Errorf("step %q in %q: want a number above 0", step, text)
			}
			every = n
		} else if !strings.ContainsAny(span, "*?-") {
			span += "-" + span // a number alone is a range of one
		}
		from, to, err := parseSpan(span, low, top, names)
		if err != nil {
			return 0, err
		}
		for n := from; n <= to; n += every {
			set |= 1 << n
		}
	}
	return set, nil
}

// parseSpan reads "*", "3-7", or "3" for everything from there.
func parseSpan(text string, low, top int, names []string) (from, to int, err error) {
	if text == "*" || text == "?" {
		return low, top, nil
	}
	first, last, ranged := strings.Cut(text, "-")
	if from, err = parseNumber(first, low, top, names); err != nil {
		return 0, 0, err
	}
	to = top
	if ranged {
		if to, err = parseNumber(last, low, top, names); err != nil {
			return 0, 0, err
		}
	}
	if from > to {
		return 0, 0, fmt.Errorf("range %q runs backwards", text)
	}
	return from, to, nil
}

func parseNumber(text string, low, top int, names []string) (int, error) {
	for i, name := range names {
		if name != "" && strings.EqualFold(name, text) {
			return i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > top {
		return 0, fmt.Errorf("%q: want %d to %d", text, low, top)
	}
	return n, nil
}

// maxWindow bounds how far back hitWithin looks.
const maxWindow = 366 * 24 * time.Hour

// hitWithin says whether the schedule hits in the span that ends now.
func (c *cron) hitWithin(now time.Time, span time.Duration) bool {
	span = min(span, maxWindow)
	for at := now.Truncate(time.Minute); now.Sub(at) < span; at = at.Add(-time.Minute) {
		if c.hits(at) {
			return true
		}
	}
	return false
}

func (c *cron) hits(at time.Time) bool {
	has := func(set uint64, n int) bool { return set>>n&1 == 1 }
	if !has(c.minute, at.Minute()) || !has(c.hour, at.Hour()) || !has(c.month, int(at.Month())) {
		return false
	}
	day, weekday := has(c.day, at.Day()), has(c.weekday, int(at.Weekday()))
	if c.anyDay || c.anyWeekday {
		return day && weekday
	}
	return day || weekday
}
