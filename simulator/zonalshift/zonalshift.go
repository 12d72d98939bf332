// Package zonalshift is the part of ARC zonal shift that tells which zones a
// cluster is moved away from.
package zonalshift

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

// Shift moves the cluster away from a zone, ordered under
// /_sim/zonalshifts.
type Shift struct {
	Zone string `json:"zone"`
	// Until is when the shift expires; nil makes it an autoshift, which lasts
	// until it is taken back.
	Until *time.Time `json:"until,omitempty"`
	// Ignored is a shift that another one takes precedence over.
	Ignored bool `json:"ignored,omitempty"`
}

// Set replaces all zonal shifts by those given.
func (s *Service) Set(all []Shift) error {
	for _, z := range all {
		if _, ok := s.market.ZoneByName(z.Zone); !ok {
			return fmt.Errorf("shift away from %q: no such zone", z.Zone)
		}
	}
	s.shifts = slices.Clone(all)
	return nil
}

// Service is zonal shift for one cluster.
type Service struct {
	account ids.Account
	ids     *ids.Source
	market  *market.Market
	cluster string
	shifts  []Shift
}

// New is zonal shift without any shift.
func New(account ids.Account, source *ids.Source, zones *market.Market, cluster string) *Service {
	return &Service{account: account, ids: source, market: zones, cluster: cluster}
}

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	return map[string]operation.Operation{"GetManagedResource": s.getManagedResource}
}

// Route finds the action and its parameters in method and path. The resource's
// ARN has slashes.
func Route(r *http.Request) (action string, path []string, err error) {
	arn, found := strings.CutPrefix(r.URL.Path, "/managedresources/")
	if r.Method != http.MethodGet || !found {
		return "", nil, awserr.New("ValidationException", "ec2sim does not know %s %s of zonal shift", r.Method, r.URL.Path)
	}
	return "GetManagedResource", []string{arn}, nil
}

// getManagedResource tells the shifts of the one cluster.
// https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
func (s *Service) getManagedResource(c *operation.Call) (any, error) {
	arn := s.account.ARN("eks", "cluster/"+s.cluster)
	if c.Path[0] != arn {
		return nil, awserr.New("ResourceNotFoundException", "The resource %s is not registered for zonal shift.", c.Path[0])
	}
	weights := map[string]float64{}
	for _, z := range s.market.Zones() {
		weights[z.ID] = 1
	}
	shifts, auto := []map[string]any{}, []map[string]any{}
	for _, shift := range s.shifts {
		if shift.Until != nil && !c.Now.Before(*shift.Until) {
			continue
		}
		z, _ := s.market.ZoneByName(shift.Zone)
		entry := map[string]any{"awayFrom": z.ID, "appliedStatus": "APPLIED", "startTime": float64(c.Now.Unix())}
		if shift.Ignored {
			entry["appliedStatus"] = "NOT_APPLIED"
		} else {
			weights[z.ID] = 0
		}
		if shift.Until == nil {
			auto = append(auto, entry)
			continue
		}
		entry["expiryTime"], entry["comment"] = float64(shift.Until.Unix()), "ordered"
		entry["zonalShiftId"], entry["resourceIdentifier"] = s.ids.Fixed("shift", shift.Zone), arn
		shifts = append(shifts, entry)
	}
	return map[string]any{
		"arn": arn, "name": s.cluster, "appliedWeights": weights, "zonalShifts": shifts, "autoshifts": auto, "zonalAutoshiftStatus": "ENABLED",
	}, nil
}
