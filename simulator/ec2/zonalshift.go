package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ZonalShift moves the cluster away from a zone, ordered under
// /_sim/zonalshifts.
type ZonalShift struct {
	Zone string `json:"zone"`
	// Until is when the shift expires; nil makes it an autoshift, which lasts
	// until it is taken back.
	Until *time.Time `json:"until,omitempty"`
	// Ignored is a shift that another one takes precedence over.
	Ignored bool `json:"ignored,omitempty"`
}

// Shift replaces all zonal shifts by those given.
func (s *Server) Shift(all []ZonalShift) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, z := range all {
		if _, ok := s.state.zoneByName(z.Zone); !ok {
			return fmt.Errorf("shift away from %q: no such zone", z.Zone)
		}
	}
	s.state.shifts = slices.Clone(all)
	return nil
}

// readResource finds the resource in method and path. Its ARN has slashes.
func (c *call) readResource(r *http.Request) error {
	arn, found := strings.CutPrefix(r.URL.Path, "/managedresources/")
	if r.Method != http.MethodGet || !found {
		return failf("ValidationException", "ec2sim does not know %s %s of zonal shift", r.Method, r.URL.Path)
	}
	c.action, c.path = "GetManagedResource", []string{arn}
	return nil
}

// getManagedResource tells the shifts of the one cluster.
// https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
func getManagedResource(s *Server, c *call) (any, error) {
	arn := s.arn("eks", "cluster/"+s.cfg.Cluster)
	if c.path[0] != arn {
		return nil, failf("ResourceNotFoundException", "The resource %s is not registered for zonal shift.", c.path[0])
	}
	weights := map[string]float64{}
	for _, z := range s.state.zones {
		weights[z.id] = 1
	}
	shifts, auto := []map[string]any{}, []map[string]any{}
	for _, shift := range s.state.shifts {
		if shift.Until != nil && !c.now.Before(*shift.Until) {
			continue
		}
		z, _ := s.state.zoneByName(shift.Zone)
		entry := map[string]any{"awayFrom": z.id, "appliedStatus": "APPLIED", "startTime": float64(c.now.Unix())}
		if shift.Ignored {
			entry["appliedStatus"] = "NOT_APPLIED"
		} else {
			weights[z.id] = 0
		}
		if shift.Until == nil {
			auto = append(auto, entry)
			continue
		}
		entry["expiryTime"], entry["comment"] = float64(shift.Until.Unix()), "ordered"
		entry["zonalShiftId"], entry["resourceIdentifier"] = fixedID(s.cfg.Seed, "shift", shift.Zone), arn
		shifts = append(shifts, entry)
	}
	return map[string]any{
		"arn": arn, "name": s.cfg.Cluster, "appliedWeights": weights, "zonalShifts": shifts, "autoshifts": auto, "zonalAutoshiftStatus": "ENABLED",
	}, nil
}
