package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Fault is something to go wrong, ordered through POST /_sim/faults.
type Fault struct {
	// ID is given by the server.
	ID string `json:"id,omitempty"`
	// Action is the operation it strikes (CreateFleet); "" or "*" is any.
	Action string `json:"action,omitempty"`
	// Offering narrows it to capacity pools: launches from them are refused,
	// one pool at a time, while the call itself succeeds.
	Offering *Offering `json:"offering,omitempty"`
	// Code is the error's, such as InsufficientInstanceCapacity or
	// RequestLimitExceeded; Message its text.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// HTTPStatus is that of the answer; 0 is the usual one for the code.
	HTTPStatus int `json:"httpStatus,omitempty"`
	// Skip is how many calls no fault strikes before this one does.
	Skip int `json:"skip,omitempty"`
	// Count is how often it strikes; 0 is once. Forever is without end.
	Count   int  `json:"count,omitempty"`
	Forever bool `json:"forever,omitempty"`
	// Latency is spent before the answer; alone, it is the whole fault.
	Latency Duration `json:"latency,omitzero"`
	// Cut closes the connection instead of answering.
	Cut bool `json:"cut,omitempty"`
	// AfterSuccess lets the action take effect first. Without a code the
	// connection is cut.
	AfterSuccess bool `json:"afterSuccess,omitempty"`
	// Struck counts what it did so far.
	Struck int `json:"struck"`
}

// Offering names capacity pools; an empty field is any.
type Offering struct {
	Type         string             `json:"type,omitempty"`
	Zone         string             `json:"zone,omitempty"`
	CapacityType model.CapacityType `json:"capacityType,omitempty"`
}

func (o *Offering) covers(pool model.Option) bool {
	return (o.Type == "" || o.Type == pool.InstanceType) && (o.Zone == "" || o.Zone == pool.Zone) &&
		(o.CapacityType == "" || o.CapacityType == pool.CapacityType)
}

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

// check says what does not make sense in a fault.
func (f *Fault) check() error {
	switch {
	case f.Offering != nil && f.Code == "":
		return fmt.Errorf("a fault of an offering needs a code, such as %s", codeNoCapacity)
	case f.Offering != nil && (f.Cut || f.AfterSuccess || f.Latency.Duration != 0 || f.HTTPStatus != 0):
		return fmt.Errorf("a fault of an offering is an error inside a successful answer; cut, afterSuccess, latency and httpStatus do not apply")
	case f.Offering != nil && f.Offering.CapacityType != "" && f.Offering.CapacityType != model.Spot && f.Offering.CapacityType != model.OnDemand:
		return fmt.Errorf("capacityType %q: want spot or on-demand", f.Offering.CapacityType)
	case f.Offering == nil && !f.fails() && !f.AfterSuccess && f.Latency.Duration == 0:
		return fmt.Errorf("the fault does nothing; give code, httpStatus, cut, afterSuccess or latency")
	case f.Latency.Duration < 0 || f.Count < 0 || f.Skip < 0:
		return fmt.Errorf("latency, count and skip must not be negative")
	case f.Offering != nil && f.Skip > 0:
		return fmt.Errorf("a fault of an offering skips no calls")
	case f.HTTPStatus != 0 && (f.HTTPStatus < 400 || f.HTTPStatus > 599):
		return fmt.Errorf("httpStatus %d: want 400 to 599", f.HTTPStatus)
	default:
		return nil
	}
}

// fails says that the answer is spoilt, not merely late.
func (f *Fault) fails() bool { return f.Cut || f.Code != "" || f.HTTPStatus != 0 }

func (f *Fault) strikes(action string) bool {
	return f.Action == "" || f.Action == "*" || f.Action == action
}

// strike counts one use and says whether the fault is spent.
func (f *Fault) strike() (spent bool) {
	f.Struck++
	return !f.Forever && f.Struck >= max(f.Count, 1)
}

// takeFault uses up the first fault that strikes the whole call. A call that
// none strikes is one of those that the others let go well first.
func (s *Server) takeFault(c *call) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var waiting []*Fault
	for i, f := range s.state.faults {
		if f.Offering != nil || !f.strikes(c.action) {
			continue
		}
		if f.Skip > 0 {
			waiting = append(waiting, f)
			continue
		}
		if f.strike() {
			s.state.faults = slices.Delete(s.state.faults, i, i+1)
		}
		found := *f
		return &found
	}
	for _, f := range waiting {
		f.Skip--
	}
	return nil
}

// poolFault uses up the first fault that strikes a pool, with the server locked.
func (s *Server) poolFault(c *call, pool model.Option) error {
	for i, f := range s.state.faults {
		if f.Offering == nil || !f.Offering.covers(pool) || !f.strikes(c.action) {
			continue
		}
		if f.strike() {
			s.state.faults = slices.Delete(s.state.faults, i, i+1)
		}
		if f.Message == "" && f.Code == codeNoCapacity {
			return s.soldOut(pool)
		}
		return &APIError{Code: f.Code, Message: f.text(pool)}
	}
	return nil
}

func (f *Fault) text(pool model.Option) string {
	switch {
	case f.Message != "":
		return f.Message
	case f.Code == codeUnfulfillable:
		return "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."
	case f.Code == "MaxSpotInstanceCountExceeded":
		return "Max spot instance count exceeded"
	default:
		return fmt.Sprintf("Ordered for %s in %s (%s).", pool.InstanceType, pool.Zone, pool.CapacityType)
	}
}

// spoil answers in the fault's way.
func (s *Server) spoil(w http.ResponseWriter, p protocol, c *call, f *Fault) {
	if f.Cut || (f.Code == "" && f.HTTPStatus == 0) {
		s.finish(c, &APIError{Code: "(connection cut)"})
		cut(w)
		return
	}
	failure := &APIError{Code: f.Code, Message: f.Message, Status: f.HTTPStatus}
	if failure.Code == "" {
		failure.Code = strings.ReplaceAll(http.StatusText(f.HTTPStatus), " ", "")
	}
	if failure.Message == "" {
		failure.Message = "Ordered by /_sim/faults."
		if failure.Code == "RequestLimitExceeded" {
			failure.Message = "Request limit exceeded."
		}
	}
	s.finish(c, failure)
	p.refuse(w, c, failure)
}

// cut closes the connection without an answer.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "the connection cannot be cut: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if err := conn.Close(); err != nil {
		return // closed already, which is what was wanted
	}
}
