package fleet

import (
	"context"
	"slices"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
)

// mostAsked is how many absent claims of a launch are read at a time.
const mostAsked = 20

// withoutAbsent decides what becomes of a shared launch of which some do not come. EC2 is
// asked: when it started anything, the request was sent by a predecessor, and repeating it is
// safe. When EC2 shows nothing, the request was not sent if one of the absent cannot have
// written it down, or after a time: if this process made the request, that in which claims come;
// otherwise that in which a predecessor's request must have been answered, and what it started be visible.
// Nil means that the request may be sent, as when the last one has come meanwhile.
func (l *Launcher) withoutAbsent(ctx context.Context, s *sharedLaunch, claim string) error {
	now := l.cfg.Clock()
	absent := s.absent()
	waiting := client.Refuse(provider.Unavailable, "launch %s: waiting for %s, which shall be launched by the same request", claim, first(absent))
	stale := client.Refuse(provider.Stale, "launch %s: %s, of the same request, did not come; nothing was launched", claim, first(absent))
	if !s.mayLook(now) {
		return waiting
	}
	found, err := l.cfg.Instances.Find(ctx, client.Filter("tag:"+awsv1.TagLaunch, s.token), client.Filter("tag:"+awsv1.TagEKSCluster, l.cfg.Cluster))
	if err != nil {
		// Whatever keeps EC2 from being asked says nothing about the request.
		return client.Refuse(provider.Unavailable, "launch %s: look for what its request started: %w", claim, client.Unkinded(err))
	}
	longest := instances.SettleTime + client.FleetTimeout(len(s.claims))
	if s.made {
		longest = arrivalGrace
	}
	void := false
	switch {
	case len(found) > 0:
		void = s.release()
	case now.Sub(s.begun) >= longest || neverComes(ctx, l.cfg.Written, s, absent):
		void = s.dissolve()
	default:
		return waiting
	}
	if void {
		return stale
	}
	return nil
}

// neverComes reports whether an absent claim will never ask for the launch. The attempts of a
// claim are numbered, and under each number one request is written down. So a claim that has
// written another one under the number of this launch has never written this one. Of a launch
// that this process made, it also holds for a claim that has gone, or has written any other. read
// is [Config.Written], nil for not known.
func neverComes(ctx context.Context, read func(context.Context, string) (provider.Attempt, error), s *sharedLaunch, absent []string) bool {
	return read != nil && slices.ContainsFunc(absent[:min(len(absent), mostAsked)], func(claim string) bool {
		written, err := read(ctx, claim)
		if err != nil {
			return s.made && provider.KindOf(err) == provider.NotFound
		}
		return len(written.Request) > 0 && written.Token != s.token && (s.made || written.Ordinal == s.ordinal)
	})
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
