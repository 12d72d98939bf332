package fleet

import (
	"context"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
)

// withoutAbsent decides what becomes of a shared launch of which some do not come. One
// that this process made was never sent: after a while it is void. Of one found
// on the claims, EC2 is asked: when it started anything, the request was sent by
// a predecessor, and repeating it is safe; when it shows nothing although a predecessor's
// request must have been answered, and what it started be visible, nothing was sent.
func (l *Launcher) withoutAbsent(ctx context.Context, s *sharedLaunch, claim string) error {
	now := l.cfg.Clock()
	waiting := client.Refuse(provider.Unavailable, "launch %s: waiting for %s, which shall be launched by the same request", claim, s.absent())
	if s.made {
		if now.Sub(s.begun) < arrivalGrace {
			return waiting
		}
		s.dissolve()
		return client.Refuse(provider.Stale, "launch %s: %s, of the same request, did not come; nothing was launched", claim, s.absent())
	}
	if !s.mayLook(now) {
		return waiting
	}
	found, err := l.cfg.Instances.Find(ctx, client.Filter("tag:"+awsv1.TagLaunch, s.token), client.Filter("tag:"+awsv1.TagEKSCluster, l.cfg.Cluster))
	switch {
	case err != nil:
		return client.Fault(err, "launch %s: look for what its request started", claim)
	case len(found) > 0:
		s.release()
		return nil
	case now.Sub(s.begun) < instances.SettleTime+client.FleetTimeout(len(s.claims)):
		return waiting
	}
	s.dissolve()
	return client.Refuse(provider.Stale, "launch %s: %s, of the same request, did not come; nothing was launched", claim, s.absent())
}

// mayLook is true for one caller every ten seconds.
func (s *sharedLaunch) mayLook(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looked.IsZero() && now.Sub(s.looked) < 10*time.Second {
		return false
	}
	s.looked = now
	return true
}
