package availability

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/prometheus/client_golang/prometheus"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// ShiftsEvery is how often zonal shifts are asked for.
const ShiftsEvery = 30 * time.Second

// ZonalShifts knows the zones that the cluster is shifted away from, as ARC said last.
type ZonalShifts struct {
	EKS     client.EKS
	ARC     client.ZonalShift
	Cluster string
	Clock   func() time.Time
	// Active is set to 1 for each zone shifted away from, by zone ID; nil records nothing.
	Active *prometheus.GaugeVec

	mu sync.Mutex
	// arn is the cluster's, under which ARC knows it.
	arn string
	on  []provider.Shift
}

// Refresh asks ARC which zones the cluster is shifted away from, and keeps
// the answer: nothing is launched there until ARC says otherwise. It gives all,
// sorted by zone. After an error the last answer holds, each shift until it
// expires. A cluster that is not enabled for zonal shift has none.
func (s *ZonalShifts) Refresh(ctx context.Context) ([]provider.Shift, error) {
	found, err := s.ask(ctx)
	now := s.Clock()
	s.mu.Lock()
	if err == nil {
		s.on = found
	}
	s.mu.Unlock()
	on := s.Current(now)
	s.record(on)
	return on, err
}

func (s *ZonalShifts) ask(ctx context.Context) ([]provider.Shift, error) {
	arn, err := s.clusterARN(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.ARC.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: sdk.String(arn)})
	if err != nil {
		err = client.Fault(err, "get zonal shifts of cluster %s", s.Cluster)
		if provider.KindOf(err) == provider.NotFound {
			return nil, nil // zonal shift is not enabled for the cluster
		}
		return nil, err
	}
	var found []provider.Shift
	for i := range out.ZonalShifts {
		if z := &out.ZonalShifts[i]; z.AppliedStatus == types.AppliedStatusApplied {
			found = append(found, provider.Shift{ZoneID: sdk.ToString(z.AwayFrom), Until: sdk.ToTime(z.ExpiryTime)})
		}
	}
	for i := range out.Autoshifts {
		if z := &out.Autoshifts[i]; z.AppliedStatus == types.AutoshiftAppliedStatusApplied {
			found = append(found, provider.Shift{ZoneID: sdk.ToString(z.AwayFrom)})
		}
	}
	slices.SortFunc(found, func(a, b provider.Shift) int { return cmp.Compare(a.ZoneID, b.ZoneID) })
	return found, nil
}

// clusterARN asks EKS once: the name of a cluster is its own for good.
func (s *ZonalShifts) clusterARN(ctx context.Context) (string, error) {
	s.mu.Lock()
	known := s.arn
	s.mu.Unlock()
	if known != "" {
		return known, nil
	}
	out, err := s.EKS.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String(s.Cluster)})
	if err != nil {
		return "", client.Fault(err, "describe EKS cluster %s for its zonal shifts", s.Cluster)
	}
	if out.Cluster == nil || sdk.ToString(out.Cluster.Arn) == "" {
		return "", client.Refuse(provider.Unavailable, "describe EKS cluster %s for its zonal shifts: the answer has no ARN", s.Cluster)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arn = *out.Cluster.Arn
	return s.arn, nil
}

// Current are the shifts that have not expired.
func (s *ZonalShifts) Current(now time.Time) []provider.Shift {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.on), func(z provider.Shift) bool { return !z.Until.IsZero() && !now.Before(z.Until) })
}

// Away says whether a zone is shifted away from. ARC writes ids; a name does no
// harm.
func Away(on []provider.Shift, zone, id string) bool {
	return slices.ContainsFunc(on, func(z provider.Shift) bool { return z.ZoneID != "" && (z.ZoneID == id || z.ZoneID == zone) })
}

// CodeZonalShift stands in place of an AWS code where a shift is the reason.
const CodeZonalShift = "ZonalShift"

// ZoneID is the id of a zone by the class's subnets, empty when they do not say.
func ZoneID(class *awsv1.EC2NodeClass, zone string) string {
	for i := range class.Status.Subnets {
		if s := &class.Status.Subnets[i]; s.Zone == zone && s.ZoneID != "" {
			return s.ZoneID
		}
	}
	return ""
}

// Apply marks the offerings of zones shifted away from in a catalogue, whose own
// slices stay as they are, and gives it a generation of its own.
func (s *ZonalShifts) Apply(now time.Time, catalog model.Catalog) model.Catalog {
	on := s.Current(now)
	if len(on) == 0 {
		return catalog
	}
	sum := fnv.New64a()
	// A hash never refuses a write.
	_, _ = fmt.Fprintln(sum, catalog.Generation)
	away := map[string]bool{}
	all := slices.Clone(catalog.Types)
	for i := range all {
		t := &all[i]
		if !slices.ContainsFunc(t.Offerings, func(o model.Offering) bool { return Away(on, o.Zone, o.ZoneID) }) {
			continue
		}
		t.Offerings = slices.Clone(t.Offerings)
		for j := range t.Offerings {
			if o := &t.Offerings[j]; Away(on, o.Zone, o.ZoneID) {
				o.Available, away[o.Zone] = false, true
			}
		}
	}
	if len(away) == 0 {
		return catalog
	}
	catalog.Types, catalog.Away = all, nil
	for zone := range away {
		catalog.Away = append(catalog.Away, zone)
	}
	slices.Sort(catalog.Away)
	_, _ = fmt.Fprintln(sum, catalog.Away)
	catalog.Generation = sum.Sum64() >> 11 // as exact in a float64 as the catalogue's own
	return catalog
}

// NewActive makes the metric of the shifts in force.
func NewActive() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "spokeshave_aws_zonal_shift_active", Help: "1 for each zone that the cluster is shifted away from, by zone ID.",
	}, []string{"zone_id"})
}

// record replaces what the metric says.
func (s *ZonalShifts) record(on []provider.Shift) {
	if s.Active == nil {
		return
	}
	s.Active.Reset()
	for i := range on {
		s.Active.WithLabelValues(on[i].ZoneID).Set(1)
	}
}
