package lower

import (
	"testing"
	"time"
)

// TestScheduleHits: the window includes its beginning and excludes its end, times are
// in UTC in any time zone of now, and a schedule for a day that does not exist never
// fires.
func TestScheduleHits(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones on this machine")
	}
	noon := time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC) // a Wednesday
	for name, tc := range map[string]struct {
		reason, schedule string
		now              time.Time
		span             time.Duration
		want             bool
	}{
		"within":           {"it hit half an hour ago", "0 12 * * *", noon, time.Hour, true},
		"beginning":        {"the window ends when the span has passed", "30 11 * * *", noon, time.Hour, false},
		"end":              {"it hits just now", "30 12 * * *", noon, time.Hour, true},
		"later":            {"it hits a minute later", "31 12 * * *", noon, time.Hour, false},
		"seconds":          {"it hit within the minute", "30 12 * * *", noon.Add(59 * time.Second), 2 * time.Minute, true},
		"yesterday":        {"it hit at 22:00", "0 22 * * *", noon, 16 * time.Hour, true},
		"list and step":    {"a quarter of an hour ago, in office hours", "*/15 9-17 * * mon-fri", noon.Add(10 * time.Minute), 11 * time.Minute, true},
		"either day":       {"day of month and day of week: one is enough", "0 12 1 * wed", noon, time.Hour, true},
		"neither day":      {"neither of them", "0 12 1 * thu", noon, time.Hour, false},
		"sunday":           {"7 is Sunday", "0 12 * * 7", noon.AddDate(0, 0, 4), time.Hour, true},
		"to sunday":        {"a range that ends with 7", "0 12 * * 5-7", noon.AddDate(0, 0, 4), time.Hour, true},
		"step to sunday":   {"1, 3, 5, 7", "0 12 * * 1-7/2", noon.AddDate(0, 0, 4), time.Hour, true},
		"step past sunday": {"1, 4, 7 and not 6", "0 12 * * 1-7/3", noon.AddDate(0, 0, 3), time.Hour, false},
		"midnight":         {"@midnight is @daily", "@midnight", noon, 13 * time.Hour, true},
		"weekly":           {"Sunday was four days ago", "@weekly", noon, 72 * time.Hour, false},
		"yearly":           {"63 days ago", "@annually", noon, 63 * 24 * time.Hour, true},
		"leap day":         {"29 February was two years ago", "0 0 29 2 *", noon, 3 * 365 * 24 * time.Hour, true},
		"no such day":      {"there is no 30 February", "0 0 30 2 *", noon, 10 * 365 * 24 * time.Hour, false},
		"zone":             {"12:00 UTC is 13:00 in Berlin", "0 12 * * *", noon.In(berlin), time.Hour, true},
		"spring forward":   {"01:30 UTC is when Berlin has skipped 02:30", "30 1 * * *", time.Date(2026, 3, 29, 1, 45, 0, 0, time.UTC).In(berlin), time.Hour, true},
		"fall back":        {"00:30 UTC is 02:30 for the first time, and 01:30 UTC another hit", "30 1 * * *", time.Date(2026, 10, 25, 1, 15, 0, 0, time.UTC).In(berlin), time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parseSchedule(tc.schedule)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.hitWithin(tc.now.UTC(), tc.span); got != tc.want {
				t.Errorf("%s: hit %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, text := range []string{
		"", "* * * *", "* * * * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *", "@often", "@every 1h", "* * 0 * *", "1-2-3 * * * *",
		"* * * * 8", "* * * * 1-7/0", "TZ=Europe/Berlin * * * * *", "CRON_TZ=UTC", "TZ=UTC",
	} {
		if _, err := parseSchedule(text); err == nil {
			t.Errorf("%q parses", text)
		}
	}
}

// FuzzSchedule: no text makes the parser or a search panic.
func FuzzSchedule(f *testing.F) {
	f.Add("*/15 9-17 1,15 jan-mar mon")
	f.Add("@weekly")
	f.Add("0 0 30 2 5-7/2")
	f.Fuzz(func(_ *testing.T, text string) {
		s, err := parseSchedule(text)
		if err == nil {
			s.hitWithin(time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC), time.Hour)
		}
	})
}

// BenchmarkScheduleNever measures the longest search: for a day that does not exist.
func BenchmarkScheduleNever(b *testing.B) {
	s, err := parseSchedule("0 0 30 2 *")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.hitWithin(time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC), 24*time.Hour)
	}
}
