package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/provider"
)

// Shifts keeps the provider's zonal shifts current, and tells people when one
// begins and ends. It runs on every replica, so that a new leader knows at once;
// the leader alone writes events.
type Shifts struct {
	Client client.Client
	// Ask asks for the shifts in force and keeps them in mind.
	Ask     func(context.Context) ([]provider.Shift, error)
	Events  events.EventRecorder
	Leading func() bool
	// Changed is called when a shift has begun or ended.
	Changed func()
	Clock   clock.WithTicker

	on map[string]provider.Shift
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*Shifts) NeedLeaderElection() bool { return false }

// Start runs until the context ends.
func (s *Shifts) Start(ctx context.Context) error {
	ticker := s.Clock.NewTicker(availability.ShiftsEvery)
	defer ticker.Stop()
	for {
		if err := s.Look(ctx); err != nil && ctx.Err() == nil {
			logr.FromContextOrDiscard(ctx).Error(err, "zonal shifts are asked for again", "next", availability.ShiftsEvery.String())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Look asks once. After an error what was known holds, unless it has expired.
func (s *Shifts) Look(ctx context.Context) error {
	found, failure := s.Ask(ctx)
	now := make(map[string]provider.Shift, len(found))
	changed := false
	for _, z := range found {
		now[z.ZoneID] = z
		if _, known := s.on[z.ZoneID]; !known {
			changed = true
			text := "AWS has shifted the cluster away from zone " + z.ZoneID + ": no node is launched there and its nodes are left alone until AWS ends the autoshift"
			if !z.Until.IsZero() {
				text = fmt.Sprintf("the cluster is shifted away from zone %s: no node is launched there and its nodes are left alone until %s, or until the zonal shift is canceled",
					z.ZoneID, z.Until.UTC().Format(time.RFC3339))
			}
			s.tell(ctx, z.ZoneID, awsv1.EventZonalShiftActive, text)
		}
	}
	for id := range s.on {
		if _, still := now[id]; !still {
			changed = true
			s.tell(ctx, id, awsv1.EventZonalShiftCleared, "the zonal shift away from zone "+id+" is over: nodes are launched there again")
		}
	}
	s.on = now
	if changed && s.Changed != nil {
		s.Changed()
	}
	return failure
}

// tell logs, and writes an event on every class with a subnet in the zone. An
// event that cannot be written is not missed by anything.
func (s *Shifts) tell(ctx context.Context, zoneID, reason, text string) {
	log := logr.FromContextOrDiscard(ctx)
	log.Info(text, "zoneID", zoneID)
	if !s.Leading() {
		return
	}
	var classes awsv1.EC2NodeClassList
	if err := s.Client.List(ctx, &classes); err != nil {
		log.Error(err, "write no events about the zonal shift", "zoneID", zoneID)
		return
	}
	kind := corev1.EventTypeWarning
	if reason == awsv1.EventZonalShiftCleared {
		kind = corev1.EventTypeNormal
	}
	for i := range classes.Items {
		class := &classes.Items[i]
		for _, subnet := range class.Status.Subnets {
			if subnet.ZoneID == zoneID || subnet.Zone == zoneID {
				s.Events.Eventf(class, nil, kind, reason, "Shift", "%s", text)
				break
			}
		}
	}
}
