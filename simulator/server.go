package simulator

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/fault"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/wire"
)

// maxBody bounds a request's body, in bytes.
const maxBody = 4 << 20

// Server is the endpoint. It is safe for concurrent use; every operation is
// atomic. Twelve of its methods are the orders of the control API, one for each.
//
// Size: one method for each thing that a test makes happen.
type Server struct {
	cfg     Config
	control *http.ServeMux

	mu      sync.Mutex
	ids     *ids.Source
	world   *world
	journal journal
	// arrived is closed, and replaced, when a message reaches a queue.
	arrived chan struct{}
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, ids: ids.NewSource(cfg.Seed), arrived: make(chan struct{})}
	s.world = newWorld(&s.cfg, s.ids, s.wake)
	s.control = controlMux(s)
	return s, nil
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
	c := &operation.Call{ID: locked(s, s.ids.UUID), Body: body}
	format, err := route(c, r, s.cfg.Region)
	if err != nil {
		s.answer(w, format, c, nil, err)
		return
	}
	s.serve(w, r, format, c)
}

// locked calls a function under the lock.
func locked[T any](s *Server, f func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f()
}

// wake asks those who wait for messages to look again. The lock is held.
func (s *Server) wake() {
	close(s.arrived)
	s.arrived = make(chan struct{})
}

// serve runs a request that names a service and an action through the faults
// ordered for it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, format wire.Format, c *operation.Call) {
	if s.cfg.Latency > 0 {
		clock.RealClock{}.Sleep(s.cfg.Latency)
	}
	call := fault.Call{Action: c.Action, DryRun: c.Form != nil && c.Form.Text("DryRun") == "true"}
	ordered := locked(s, func() *fault.Fault { return s.world.faults.Take(call) })
	if ordered != nil {
		pause(r.Context(), s.cfg.Clock, ordered.Latency.Duration)
		if !ordered.AfterSuccess && ordered.Fails() {
			s.spoil(w, format, c, ordered)
			return
		}
	}
	result, err := s.run(r.Context(), c)
	if ordered != nil && ordered.AfterSuccess {
		s.spoil(w, format, c, ordered)
		return
	}
	s.answer(w, format, c, result, err)
}

// answer notes how a call ended and writes its result, or its error.
func (s *Server) answer(w http.ResponseWriter, format wire.Format, c *operation.Call, result any, err error) {
	id := wire.ID{Request: c.ID, Action: c.Action}
	if err != nil {
		refusal := awserr.Of(err)
		s.note(c, refusal.Code)
		format.Refuse(w, id, refusal)
		return
	}
	s.note(c, "")
	format.Answer(w, id, result)
}

// run carries the operation out, and waits for messages when it asks to.
func (s *Server) run(ctx context.Context, c *operation.Call) (any, error) {
	for {
		result, arrived, err := s.once(c)
		if err != nil || c.Wait <= 0 {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, nil
		case <-s.cfg.Clock.After(c.Wait):
			return result, nil
		case <-arrived:
			c.Wait -= s.cfg.Clock.Since(c.Now)
			if c.Wait <= 0 {
				return result, nil
			}
		}
	}
}

// once carries the operation out once, under the lock.
func (s *Server) once(c *operation.Call) (result any, arrived <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op := s.world.operations[c.Service][c.Action]
	if op == nil {
		return nil, nil, awserr.New("InvalidAction", "The action %s is not valid for this web service (%s), or ec2sim does not know it", c.Action, c.Service)
	}
	c.Now = s.cfg.Clock.Now()
	s.world.ec2.Settle(c.Now)
	if err := s.world.throttle(&s.cfg, c); err != nil {
		return nil, nil, err
	}
	if err := s.world.authorize(&s.cfg, c); err != nil {
		return nil, nil, err
	}
	result, err = op(c)
	return result, s.arrived, err
}

// pause waits, by the clock given, unless the context ends.
func pause(ctx context.Context, c clock.Clock, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-c.After(d):
	}
}

// spoil answers in the fault's way: with its error, or with a cut connection.
func (s *Server) spoil(w http.ResponseWriter, format wire.Format, c *operation.Call, f *fault.Fault) {
	if refusal := f.Refusal(); refusal != nil {
		s.answer(w, format, c, nil, refusal)
		return
	}
	s.note(c, "(connection cut)")
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "the connection cannot be cut: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if err := conn.Close(); err != nil {
		return // closed already, which is what was wanted
	}
}
