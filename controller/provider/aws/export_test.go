package aws

import "time"

// Patient makes Prepare wait longer for others: a busy machine takes its time to
// start callers that come at the same moment.
func (p *Provider) Patient() {
	p.prepares.idle, p.prepares.longest = 300*time.Millisecond, 5*time.Second
}
