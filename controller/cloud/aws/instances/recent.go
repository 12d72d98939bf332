package instances

import (
	"maps"
	"time"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// sighting is an instance that a launch reported, until reads must show it.
type sighting struct {
	provider.Instance
	until time.Time
}

// Remember keeps a launched instance in mind until reads must show it.
func (s *Instances) Remember(i *provider.Instance) {
	id, err := InstanceID(i.ProviderID)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent[id] = sighting{Instance: *i, until: s.cfg.Clock().Add(SettleTime)}
}

func (s *Instances) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.recent, id)
}

// sighted is a copy of the sighting of one instance, when it is not over.
func (s *Instances) sighted(id string) (provider.Instance, bool) {
	now := s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	seen, ok := s.recent[id]
	if !ok || !now.Before(seen.until) {
		delete(s.recent, id)
		return provider.Instance{}, false
	}
	seen.Tags = maps.Clone(seen.Tags)
	return seen.Instance, true
}

// recently copies the sightings that are not over, by instance id.
func (s *Instances) recently() map[string]provider.Instance {
	now := s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]provider.Instance{}
	for id, seen := range s.recent {
		if !now.Before(seen.until) {
			delete(s.recent, id)
			continue
		}
		fresh := seen.Instance
		fresh.Tags = maps.Clone(seen.Tags)
		out[id] = fresh
	}
	return out
}

// notSeenYet turns NotFound for an instance launched a moment ago into
// Unavailable: it exists, and the call must be repeated.
func (s *Instances) notSeenYet(id string, err error) error {
	if provider.KindOf(err) != provider.NotFound {
		return err
	}
	if _, fresh := s.sighted(id); !fresh {
		return err
	}
	return client.Refuse(provider.Unavailable, "launched a moment ago and not visible yet: %w", client.Unkinded(err))
}
