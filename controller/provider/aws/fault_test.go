package aws_test

import (
	"testing"
	"time"

	"spokeshave.dev/cmd/ec2sim/sim"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/provider"
)

// faults are the ways in which one call goes wrong.
func faults() map[string]sim.Fault {
	return map[string]sim.Fault{
		"throttled":             {Code: "RequestLimitExceeded"},
		"server error":          {HTTPStatus: 500},
		"no answer":             {Cut: true},
		"timeout after success": {AfterSuccess: true},
		"error after success":   {AfterSuccess: true, HTTPStatus: 503},
	}
}

// Every call of the launch and terminate paths, gone wrong in every way: nothing
// is doubled, nothing leaks, and it goes on when the fault is over.
func TestFaultMatrix(t *testing.T) {
	for _, action := range []string{"CreateLaunchTemplate", "CreateFleet", "DescribeInstances", "CreateTags", "TerminateInstances"} {
		for name, fault := range faults() {
			for _, lag := range []time.Duration{0, 20 * time.Second} {
				t.Run(action+"/"+name+"/lag "+lag.String(), func(t *testing.T) {
					w := newWorld(t)
					w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: lag}})
					fault.Action = action
					w.order(t, fault)
					w.throughLife(t)
					if left := w.server.State().Faults; len(left) > 0 {
						t.Errorf("the fault never struck: %+v", left)
					}
				})
			}
		}
	}
}

// throughLife launches an instance, looks at it, tags it and ends it, repeating
// what fails as the reconcilers do.
func (w *world) throughLife(t *testing.T) {
	t.Helper()
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	var attempt provider.Attempt
	w.persist(t, "prepare", func() (err error) { attempt, err = w.provider.Prepare(t.Context(), s); return err })
	var i provider.Instance
	w.persist(t, "launch", func() (err error) { i, err = w.provider.Launch(t.Context(), attempt); return err })
	w.persist(t, "get", func() (err error) { _, err = w.provider.Get(t.Context(), i.ProviderID); return err })
	w.persist(t, "tag", func() error { return w.provider.Tag(t.Context(), i.ProviderID, map[string]string{"Name": "n"}) })
	w.wantLiving(t, "a")
	w.persist(t, "terminate", func() error {
		err := w.provider.Terminate(t.Context(), i.ProviderID)
		if err != nil && provider.KindOf(err) == provider.NotFound {
			return nil
		}
		return err
	})
	w.clock.Step(time.Minute)
	w.persist(t, "list", func() error {
		list, err := w.provider.List(t.Context())
		if err == nil && len(list) != 0 {
			t.Errorf("listed after the end: %+v", list)
		}
		return err
	})
	w.wantLiving(t)
}

func (w *world) persist(t *testing.T, what string, do func() error) {
	t.Helper()
	for range 10 {
		err := do()
		if err == nil {
			return
		}
		if provider.KindOf(err).Definitive() {
			t.Fatalf("%s: a passing fault is taken for a definitive one: %v", what, err)
		}
		w.clock.Step(3 * time.Second)
	}
	t.Fatalf("%s: no success in ten tries", what)
}
