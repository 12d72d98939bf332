package fault

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
)

// Fault is something to go wrong, ordered through POST /_sim/faults.
type Fault struct {
	// ID is given by the server.
	ID string `json:"id,omitempty"`
	// Action is the operation it strikes (CreateFleet); "" or "*" is any.
	Action string `json:"action,omitempty"`
	// DryRun lets it strike dry runs of the operation, and no other calls; without it, it
	// strikes no dry runs.
	DryRun bool `json:"dryRun,omitempty"`
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

// Validate says what does not make sense in a fault.
func (f *Fault) Validate() error {
	switch {
	case f.Offering != nil && f.Code == "":
		return fmt.Errorf("a fault of an offering needs a code, such as %s", awserr.NoCapacity)
	case f.Offering != nil && (f.Cut || f.AfterSuccess || f.Latency.Duration != 0 || f.HTTPStatus != 0):
		return fmt.Errorf("a fault of an offering is an error inside a successful answer; cut, afterSuccess, latency and httpStatus do not apply")
	case f.Offering != nil && f.Offering.CapacityType != "" && f.Offering.CapacityType != model.Spot && f.Offering.CapacityType != model.OnDemand:
		return fmt.Errorf("capacityType %q: want spot or on-demand", f.Offering.CapacityType)
	case f.Offering == nil && !f.Fails() && !f.AfterSuccess && f.Latency.Duration == 0:
		return fmt.Errorf("the fault does nothing; give code, httpStatus, cut, afterSuccess or latency")
	case f.Latency.Duration < 0 || f.Count < 0 || f.Skip < 0:
		return fmt.Errorf("latency, count and skip must not be negative")
	case f.Offering != nil && f.Skip > 0:
		return fmt.Errorf("a fault of an offering skips no calls")
	case f.Offering != nil && f.DryRun:
		return fmt.Errorf("a fault of an offering strikes no dry runs")
	case f.HTTPStatus != 0 && (f.HTTPStatus < 400 || f.HTTPStatus > 599):
		return fmt.Errorf("httpStatus %d: want 400 to 599", f.HTTPStatus)
	default:
		return nil
	}
}

// Fails says that the answer is spoilt, not merely late.
func (f *Fault) Fails() bool { return f.Cut || f.Code != "" || f.HTTPStatus != 0 }

func (f *Fault) strikes(action string) bool {
	return f.Action == "" || f.Action == "*" || f.Action == action
}

// strike counts one use and says whether the fault is spent.
func (f *Fault) strike() (spent bool) {
	f.Struck++
	return !f.Forever && f.Struck >= max(f.Count, 1)
}

// text is the message of a refusal from a pool.
func (f *Fault) text(pool model.Option) string {
	switch {
	case f.Message != "":
		return f.Message
	case f.Code == awserr.NoCapacity:
		return "" // the pool has words of its own
	case f.Code == awserr.Unfulfillable:
		return "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again."
	case f.Code == "Unsupported":
		return fmt.Sprintf("Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", pool.InstanceType, pool.Zone)
	case f.Code == "MaxSpotInstanceCountExceeded":
		return "Max spot instance count exceeded"
	default:
		return fmt.Sprintf("Ordered for %s in %s (%s).", pool.InstanceType, pool.Zone, pool.CapacityType)
	}
}
