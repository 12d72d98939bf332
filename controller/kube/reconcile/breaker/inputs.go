package breaker

import "time"

// settle is how long a change of the inputs explains drift: until then, every node has
// been compared with the new inputs. For as long after an upgrade, other results of AWS
// may come of the new version, and explain nothing.
const settle = 15 * time.Minute

// Inputs are what decides whether the nodes of a NodePool have drifted, but for the nodes
// themselves.
type Inputs struct {
	// Version is the controller's.
	Version string `json:"version"`
	// Spec changes when a user edits the NodePool or the class.
	Spec string `json:"spec"`
	// Resolved changes when AWS has other images, subnets or security groups for the
	// class.
	Resolved string `json:"resolved"`
	// Changed is when Spec or Resolved was seen to change last, zero for never. Upgraded is when Version
	// was, or when nothing was known of before.
	Changed  time.Time `json:"changed"`
	Upgraded time.Time `json:"upgraded,omitzero"`
}

// next returns what is known after the inputs are seen as they are now. Where nothing was known, at the first start of
// a version with breakers or because the record was lost, they explain nothing: the
// nodes may be those of another version, or of Karpenter.
func (i Inputs) next(seen Inputs, now time.Time) Inputs {
	if i == (Inputs{}) {
		seen.Changed, seen.Upgraded = time.Time{}, now
		return seen
	}
	seen.Changed, seen.Upgraded = i.Changed, i.Upgraded
	if i.Version != seen.Version && i.Version != "" {
		seen.Upgraded = now
	}
	if i.Spec != seen.Spec || i.Resolved != seen.Resolved && now.Sub(seen.Upgraded) >= settle {
		seen.Changed = now
	}
	return seen
}

// Explained notes the inputs of a NodePool as they are seen now, and reports whether they
// explain that its nodes drift: a user or AWS has changed something.
func (b *Breaker) Explained(pool string, seen Inputs) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.Clock.Now()
	last := b.state.Pools[pool]
	next := last.next(seen, now)
	if next != last {
		if b.state.Pools == nil {
			b.state.Pools = map[string]Inputs{}
		}
		b.state.Pools[pool] = next
		b.state.changed = true
	}
	explained := now.Sub(next.Changed) < settle
	if explained {
		b.clear(Drift, entry(Drift, pool))
	}
	return explained
}

// ChangedAt is when the inputs of a NodePool were seen to change last, zero for never.
func (b *Breaker) ChangedAt(pool string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state.Pools[pool].Changed
}

// Keep drops what is known of NodePools other than these.
func (b *Breaker) Keep(pools map[string]bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for pool := range b.state.Pools {
		if !pools[pool] {
			delete(b.state.Pools, pool)
			b.clear(Drift, entry(Drift, pool))
			b.state.changed = true
		}
	}
}
