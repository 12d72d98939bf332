package availability

import (
	"slices"
	"sync"
	"time"
)

// places is how many places reservations have left, as EC2 said last, less what
// was launched since.
type places struct {
	mu    sync.Mutex
	count map[string]placeCount
}

type placeCount struct {
	free int
	// blockEnd is when a capacity block ends, zero for other reservations.
	blockEnd time.Time
	// taken are the launches since EC2's figure may not have known of them.
	taken []time.Time
}

// countLag is how long EC2's count of free places may miss a launch.
const countLag = 30 * time.Second

func (p *places) learn(id string, c placeCount, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count == nil {
		p.count = map[string]placeCount{}
	}
	c.taken = slices.DeleteFunc(slices.Clone(p.count[id].taken), func(at time.Time) bool { return now.Sub(at) > countLag })
	p.count[id] = c
}

// take notes a launch into a reservation.
func (p *places) take(id string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, known := p.count[id]; known {
		c.taken = append(slices.Clone(c.taken), now)
		p.count[id] = c
	}
}

// exhausted notes that EC2 has found a reservation full.
func (p *places) exhausted(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, known := p.count[id]; known {
		c.free, c.taken = 0, nil
		p.count[id] = c
	}
}

// left is how many more instances a reservation takes, 0 for an unknown one.
func (p *places) left(id string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.count[id]
	return max(0, c.free-len(c.taken))
}

// ending are the capacity blocks about to end, and when. What has ended is
// forgotten.
func (p *places) ending(now time.Time) map[string]time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]time.Time{}
	for id, c := range p.count {
		switch {
		case c.blockEnd.IsZero() || now.Add(blockEnds).Before(c.blockEnd):
		case now.Before(c.blockEnd):
			out[id] = c.blockEnd
		default:
			delete(p.count, id)
		}
	}
	return out
}

func (p *places) knows(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.count[id]
	return known
}

// mention makes an unknown reservation a known one without room.
func (p *places) mention(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.count[id]; !known {
		if p.count == nil {
			p.count = map[string]placeCount{}
		}
		p.count[id] = placeCount{}
	}
}
