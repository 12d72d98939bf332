package sim

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// maxBody bounds a request's body.
const maxBody = 4 << 20

// Server is the endpoint. It is safe for concurrent use; every operation is
// atomic.
type Server struct {
	cfg        Config
	operations map[string]map[string]operation
	control    *http.ServeMux

	mu    sync.Mutex
	state *state
	// arrived is closed, and replaced, when a message reaches a queue.
	arrived chan struct{}
}

// operation answers one action, with the server locked.
type operation func(s *Server, c *call) (any, error)

// call is one request to an operation.
type call struct {
	now     time.Time
	id      string
	service string
	region  string
	action  string
	form    *form
	body    []byte
	path    []string
	dryRun  bool
	// wait is set by an operation that found nothing and may be asked again.
	wait time.Duration
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg.withDefaults(), operations: operations(), arrived: make(chan struct{})}
	s.state = newState(&s.cfg)
	s.control = s.controlMux()
	return s, nil
}

func operations() map[string]map[string]operation {
	return map[string]map[string]operation{
		"ec2":     ec2Operations(),
		"iam":     iamOperations(),
		"sts":     stsOperations(),
		"ssm":     ssmOperations(),
		"sqs":     sqsOperations(),
		"pricing": pricingOperations(),
		"eks":     eksOperations(),

		"arc-zonal-shift": {"GetManagedResource": getManagedResource},
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_sim/") {
		s.control.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	c := &call{}
	p, err := s.identify(c, r, body)
	if err == nil {
		s.serve(w, r, p, c)
		return
	}
	s.finish(c, failureOf(err))
	p.refuse(w, c, failureOf(err))
}

// serve runs a request that names a service and an action through the faults
// ordered for it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, p protocol, c *call) {
	if s.cfg.Latency > 0 {
		clock.RealClock{}.Sleep(s.cfg.Latency)
	}
	ordered := s.takeFault(c)
	if ordered != nil {
		s.pause(r.Context(), ordered.Latency.Duration)
		if !ordered.AfterSuccess && ordered.fails() {
			s.spoil(w, p, c, ordered)
			return
		}
	}
	result, err := s.run(r.Context(), c)
	if ordered != nil && ordered.AfterSuccess {
		s.spoil(w, p, c, ordered)
		return
	}
	if err != nil {
		s.finish(c, failureOf(err))
		p.refuse(w, c, failureOf(err))
		return
	}
	s.finish(c, nil)
	p.answer(w, c, result)
}

// run carries the operation out, and waits for messages when it asks to.
func (s *Server) run(ctx context.Context, c *call) (any, error) {
	op := s.operations[c.service][c.action]
	if op == nil {
		return nil, failf("InvalidAction", "The action %s is not valid for this web service (%s), or ec2sim does not know it", c.action, c.service)
	}
	for {
		s.mu.Lock()
		c.now = s.cfg.Clock.Now()
		s.settle(c.now)
		result, err := op(s, c)
		arrived := s.arrived
		s.mu.Unlock()
		if err != nil || c.wait <= 0 {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, nil
		case <-s.cfg.Clock.After(c.wait):
			return result, nil
		case <-arrived:
			c.wait -= s.cfg.Clock.Since(c.now)
			if c.wait <= 0 {
				return result, nil
			}
		}
	}
}

func (s *Server) pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-s.cfg.Clock.After(d):
	}
}
