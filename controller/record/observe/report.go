package observe

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Version is the version of Report's format. Within a version fields are only added.
const Version = 1

// Report is the comparison over a period.
type Report struct {
	Version int       `json:"version"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Now     Now       `json:"now"`
	Hours   []Hour    `json:"hours"`
}

// Report returns the comparison so far.
func (o *Observer) Report() Report {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := Report{Version: Version, To: o.now.Time, Now: o.now, Hours: slices.Clone(o.hours)}
	if len(o.hours) > 0 {
		out.From = o.hours[0].Start
	}
	return out
}

// Since returns the report without the hours that ended before a time.
func (r Report) Since(at time.Time) Report {
	r.Hours = slices.DeleteFunc(slices.Clone(r.Hours), func(h Hour) bool { return h.Start.Add(time.Hour).Before(at) })
	if len(r.Hours) > 0 {
		r.From = r.Hours[0].Start
	}
	return r
}

// Total returns the sum of all hours.
func (r *Report) Total() Hour {
	sum := Hour{Start: r.From}
	for i := range r.Hours {
		h := &r.Hours[i]
		sum.Seconds += h.Seconds
		sum.Really.plus(&h.Really)
		sum.Would.plus(&h.Would)
	}
	return sum
}

func (s *Side) plus(o *Side) {
	s.Cost.Plus(o.Cost)
	s.Launched += o.Launched
	s.Price += o.Price
	s.Removed += o.Removed
}

// ServeHTTP answers with the report as JSON.
func (o *Observer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	body, err := json.Marshal(o.Report())
	if err != nil {
		http.Error(w, "encode report: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that closes the connection needs no handling.
	_, _ = w.Write(body)
}
