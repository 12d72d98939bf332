package fault

import (
	"net/http"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
)

// Schedule is the faults that are ordered and not spent, oldest first. The zero
// value is empty. It is not safe for concurrent use.
type Schedule struct{ faults []*Fault }

// Add orders a fault, which has passed Validate.
func (s *Schedule) Add(f Fault) { s.faults = append(s.faults, &f) }

// Clear takes all orders back.
func (s *Schedule) Clear() { s.faults = nil }

// List is a copy of what is ordered and not spent.
func (s *Schedule) List() []Fault {
	out := make([]Fault, len(s.faults))
	for i, f := range s.faults {
		out[i] = *f
	}
	return out
}

// Call is what the faults of whole calls are chosen by.
type Call struct {
	Action string
	DryRun bool
}

// Take uses up the first fault that strikes a whole call and gives a copy of it,
// nil for none. A call that none strikes is one of those that the others let go
// well first.
func (s *Schedule) Take(call Call) *Fault {
	var waiting []*Fault
	for i, f := range s.faults {
		if f.Offering != nil || f.DryRun != call.DryRun || !f.strikes(call.Action) {
			continue
		}
		if f.Skip > 0 {
			waiting = append(waiting, f)
			continue
		}
		if f.strike() {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		found := *f
		return &found
	}
	for _, f := range waiting {
		f.Skip--
	}
	return nil
}

// TakePool uses up the first fault that strikes launches from a pool and gives
// the refusal, nil for none. Its message is empty where the pool's own words for
// a lack of capacity apply.
func (s *Schedule) TakePool(action string, pool model.Option) *awserr.Error {
	for i, f := range s.faults {
		if f.Offering == nil || !f.Offering.covers(pool) || !f.strikes(action) {
			continue
		}
		if f.strike() {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return &awserr.Error{Code: f.Code, Message: f.text(pool)}
	}
	return nil
}

// Refusal is the error that a fault of a whole call answers with; nil when the
// connection is cut instead.
func (f *Fault) Refusal() *awserr.Error {
	if f.Cut || (f.Code == "" && f.HTTPStatus == 0) {
		return nil
	}
	out := &awserr.Error{Code: f.Code, Message: f.Message, Status: f.HTTPStatus}
	if out.Code == "" {
		out.Code = strings.ReplaceAll(http.StatusText(f.HTTPStatus), " ", "")
	}
	if out.Message == "" {
		out.Message = "Ordered by /_sim/faults."
		if out.Code == awserr.Throttled {
			out.Message = "Request limit exceeded."
		}
	}
	return out
}
