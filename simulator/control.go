package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"spokeshave.dev/simulator/ec2"
)

// controlMux routes the control API.
func controlMux(s *Server) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_sim/state", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.State()) })
	mux.HandleFunc("GET /_sim/requests", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Requests()) })
	mux.HandleFunc("GET /_sim/faults", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.State().Faults) })
	mux.HandleFunc("POST /_sim/faults", ordered(func(f Fault) (any, error) { return s.Order(f) }))
	mux.HandleFunc("DELETE /_sim/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		reply(w, []Fault{})
	})
	mux.HandleFunc("POST /_sim/interrupt", ordered(func(in Interruption) (any, error) { return in, s.Interrupt(in) }))
	mux.HandleFunc("POST /_sim/status", ordered(func(in StatusCheck) (any, error) { return in, s.SetStatus(in) }))
	mux.HandleFunc("POST /_sim/prices", ordered(func(in []Price) (any, error) { return in, s.SetPrices(in) }))
	mux.HandleFunc("POST /_sim/capacity", ordered(func(in []Capacity) (any, error) { return in, s.SetCapacity(in) }))
	mux.HandleFunc("POST /_sim/reservations", ordered(func(in []Reservation) (any, error) { return s.Reserve(in) }))
	mux.HandleFunc("POST /_sim/placementgroups", ordered(func(in []PlacementGroup) (any, error) { return s.Place(in) }))
	mux.HandleFunc("POST /_sim/volumeprices", ordered(func(in []VolumePrice) (any, error) { return in, s.SetVolumePrices(in) }))
	mux.HandleFunc("POST /_sim/zonalshifts", ordered(func(in []ZonalShift) (any, error) { return in, s.Shift(in) }))
	mux.HandleFunc("POST /_sim/settings", ordered(func(in Settings) (any, error) { return s.Set(in), nil }))
	mux.HandleFunc("POST /_sim/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		reply(w, s.State())
	})
	return mux
}

// ordered adapts an order with a JSON body.
func ordered[T any](do func(T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		d := json.NewDecoder(io.LimitReader(r.Body, maxBody))
		d.DisallowUnknownFields()
		err := d.Decode(&in)
		var out any
		if err == nil {
			out, err = do(in)
		}
		if err != nil {
			status := http.StatusBadRequest
			if errors.Is(err, ec2.ErrNoInstance) {
				status = http.StatusNotFound
			}
			w.WriteHeader(status)
			reply(w, map[string]string{"error": fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err)})
			return
		}
		reply(w, out)
	}
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(body); err != nil {
		return // the client has gone
	}
}
