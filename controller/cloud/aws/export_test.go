package aws

import "time"

// Together makes the next n claims that ask for an attempt share a window,
// however long a busy machine takes to start them: it closes when all have come.
// The same holds for n instances looked at or ended. What it returns ends that.
func (p *Provider) Together(n int) (undo func()) {
	undoAll := []func(){awaiting(&p.prepares, n), awaiting(&p.gets, n), awaiting(&p.ends, n)}
	return func() {
		for _, undo := range undoAll {
			undo()
		}
	}
}

func awaiting[Q comparable, A any](g *gatherer[Q, A], n int) (undo func()) {
	idle, longest, most := g.idle, g.longest, g.most
	g.idle, g.longest, g.most = time.Minute, time.Minute, min(n, most)
	return func() { g.idle, g.longest, g.most = idle, longest, most }
}
