package simulator

import (
	"maps"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/simulator/operation"
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

// journal is the last requests, and the number of all by action and code.
type journal struct {
	requests []Request
	counts   map[string]map[string]int
}

func (j *journal) add(r Request) {
	if j.counts == nil {
		j.counts = make(map[string]map[string]int)
	}
	if j.counts[r.Action] == nil {
		j.counts[r.Action] = make(map[string]int)
	}
	j.counts[r.Action][r.Code]++
	j.requests = append(j.requests, r)
	if n := len(j.requests); n > 2*keepRequests {
		j.requests = slices.Clone(j.requests[n-keepRequests:])
	}
}

// numbers is a copy of the counts, never nil.
func (j *journal) numbers() map[string]map[string]int {
	out := make(map[string]map[string]int, len(j.counts))
	for action, byCode := range j.counts {
		out[action] = maps.Clone(byCode)
	}
	return out
}

// note counts a request and writes it down. An empty code is success.
func (s *Server) note(c *operation.Call, code string) {
	r := Request{Service: c.Service, Action: c.Action, Code: code}
	if c.Form != nil {
		r.Parameters = strings.Split(strings.TrimSpace(c.Form.Fingerprint()), "\n")
	} else {
		r.Body = string(c.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Time = s.cfg.Clock.Now()
	s.journal.add(r)
	s.cfg.Log.Debug("request", "service", c.Service, "action", c.Action, "code", code)
}

// Requests are the last requests, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.journal.requests
	return slices.Clone(all[max(0, len(all)-keepRequests):])
}
