package sim

import (
	"strings"
	"time"
)

// keepRequests is how many requests GET /_sim/requests remembers.
const keepRequests = 2000

// Request is what was asked and how it ended.
type Request struct {
	Time    time.Time `json:"time"`
	Service string    `json:"service"`
	Action  string    `json:"action"`
	// Code is the error's; empty after success.
	Code string `json:"code,omitempty"`
	// Parameters are those of the query protocols, sorted, one to a line.
	Parameters []string `json:"parameters,omitempty"`
	// Body is that of the JSON protocols.
	Body string `json:"body,omitempty"`
}

// finish counts a request and writes it down. A nil failure is success.
func (s *Server) finish(c *call, failure *APIError) {
	r := Request{Service: c.service, Action: c.action}
	if failure != nil {
		r.Code = failure.Code
	}
	if c.form != nil {
		r.Parameters = strings.Split(strings.TrimSpace(c.form.fingerprint()), "\n")
	} else {
		r.Body = string(c.body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Time = s.cfg.Clock.Now()
	byCode := s.state.counts[c.action]
	if byCode == nil {
		byCode = make(map[string]int)
		s.state.counts[c.action] = byCode
	}
	byCode[r.Code]++
	s.state.requests = append(s.state.requests, r)
	if n := len(s.state.requests); n > 2*keepRequests {
		s.state.requests = append([]Request(nil), s.state.requests[n-keepRequests:]...)
	}
	s.cfg.Log.Debug("request", "service", c.service, "action", c.action, "code", r.Code)
}
