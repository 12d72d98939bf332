package lower

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// schedule says when a disruption budget becomes active. It is a cron schedule in UTC,
// in the syntax of the library that Karpenter uses.
type schedule struct{ next cron.Schedule }

// parseSchedule reads five cron fields or a macro such as @daily. Sunday is 0 or 7.
func parseSchedule(text string) (schedule, error) {
	fields := strings.Fields(text)
	if len(fields) == 5 {
		fields[4] = sundaysAsZero(fields[4])
	}
	next, err := cron.ParseStandard("TZ=UTC " + strings.Join(fields, " "))
	if _, everyInterval := next.(cron.ConstantDelaySchedule); everyInterval {
		err = errors.New("@every has no beginning")
	}
	if err != nil {
		return schedule{}, fmt.Errorf("parse schedule %q: %w", text, err)
	}
	return schedule{next}, nil
}

// sundaysAsZero rewrites a day-of-week field so that Sunday is 0 and not 7, which the
// library does not accept: 5-7 becomes 5-6,0.
func sundaysAsZero(field string) string {
	var out []string
	for part := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(part, "/")
		first, last, ranged := strings.Cut(span, "-")
		switch from, err := strconv.Atoi(first); {
		case span == "7" && !stepped, span == "7-7":
			out = append(out, "0")
		case ranged && last == "7" && err == nil && 0 <= from && from < 7:
			every := 1
			if stepped {
				if every, err = strconv.Atoi(step); err != nil || every < 1 {
					return field // the library says what is wrong
				}
			}
			out = append(out, fmt.Sprintf("%d-6/%d", from, every))
			if (7-from)%every == 0 {
				out = append(out, "0")
			}
		default:
			out = append(out, part)
		}
	}
	return strings.Join(out, ",")
}

// hitWithin reports whether the schedule fires after now-span and not after now.
func (s schedule) hitWithin(now time.Time, span time.Duration) bool {
	hit := s.next.Next(now.Add(-span))
	return !hit.IsZero() && !hit.After(now) // zero: it hits on no day of the next five years
}
