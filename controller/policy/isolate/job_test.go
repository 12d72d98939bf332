package isolate_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/rego"
)

// TestJobHasOneDeadline: a process that names one stage after the other gets no more time for
// its job.
func TestJobHasOneDeadline(t *testing.T) {
	e := isolate.New(isolate.Config{Option: isolate.OptionStages})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	job := &isolate.Job{Policy: &policy.Info{Name: "p"}, Limit: time.Second}
	err := e.Do(ctx, job, func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "sent a frame of kind") {
		t.Errorf("%v, want that a job has no stages", err)
	}
}

// TestStagesEnd: a process that names one stage after the other gets no more time than a trial may
// take in all, and none once the policy has passed its trial.
func TestStagesEnd(t *testing.T) {
	for name, tc := range map[string]struct{ reason, option, want string }{
		"trial": {reason: "each stage is short", option: isolate.OptionStages, want: "another: took longer than 1s with all that came before"},
		"then":  {reason: "what is in force has no stages", option: isolate.OptionLaterStages, want: "sent a frame of kind"},
	} {
		t.Run(name, func(t *testing.T) {
			e := isolate.New(isolate.OneSecond(tc.option))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := e.Compile(ctx, source("p", policy.HookConsolidate, map[string]string{"p.rego": good}))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestPoliciesInForceGoFirst: a policy in force that is slow to load is loaded again, after another
// one has ended the process, while a job would keep it waiting. The job is interrupted, and may be
// tried again.
func TestPoliciesInForceGoFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	c := &counts{killed: map[string]int{}, refused: map[string]int{}}
	e := isolate.New(isolate.Config{Engine: rego.Name, Events: c.events()})
	bomb := compile(t, e, source("bomb", policy.HookConsolidate, bombed()))
	p := compile(t, e, large())
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		job := &isolate.Job{Policy: &policy.Info{Name: "job"}, Order: []byte(endless), Limit: 10 * patience}
		ended <- e.Do(t.Context(), job, func(r io.Reader) error {
			_, err := io.ReadFull(r, make([]byte, len("begun")))
			close(begun)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
			}
			return err
		})
	}()
	select {
	case <-begun:
	case err := <-ended:
		t.Fatalf("the job: %v", err)
	}
	if _, err := ask(t, p, 1); err != nil {
		t.Fatalf("beside a job: %v", err)
	}
	endProcess(t, bomb, c)
	for begun := time.Now(); ; {
		_, err := ask(t, p, 1)
		if err == nil {
			break
		}
		if time.Since(begun) > patience {
			t.Fatalf("the large policy is not loaded again: %v", err)
		}
	}
	if err := <-ended; !load.Transient(err) || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("the job: %v, want that it was interrupted", err)
	}
}
