package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"spokeshave.dev/test/kit/eventually"
)

// Check looks at something once: how it stands, for people, and whether it is
// as wanted. A request that failed is a state like any other.
type Check func(context.Context) (state string, done bool)

// Until waits for a check to be satisfied. When that does not happen in time
// the error tells how it stood last, and what the cluster and the controller
// said.
func (s *Stack) Until(ctx context.Context, what string, within time.Duration, check Check) error {
	state, err := eventually.Poll(ctx, within, check)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("wait for %s: %w", what, ctx.Err())
	}
	return fmt.Errorf("%w\n%s", eventually.Failure(what, within, state, err), s.Diagnosis(ctx))
}

// Holds makes sure that a check stays satisfied for a while.
func (s *Stack) Holds(ctx context.Context, what string, during time.Duration, check Check) error {
	bounded, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	broken := errors.New("broken")
	state := ""
	err := wait.PollUntilContextCancel(bounded, eventually.Every, true, func(context.Context) (bool, error) {
		how, holds := check(ctx)
		if !holds {
			state = how
			return false, broken
		}
		return false, nil
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("watch %s: %w", what, ctx.Err())
	case errors.Is(err, broken):
		return fmt.Errorf("watch %s: %s\n%s", what, state, s.Diagnosis(ctx))
	}
	return nil
}

// Diagnosis is what somebody needs who asks why nothing happens: the latest
// warnings, and the ends of the logs of our own programs.
func (s *Stack) Diagnosis(ctx context.Context) string {
	var b strings.Builder
	if events, err := s.Events(ctx, telling); err == nil {
		b.WriteString("latest events:\n")
		for _, e := range events[max(0, len(events)-15):] {
			fmt.Fprintf(&b, "  %s %s %s: %s\n", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
		}
	}
	if s.starts > 0 {
		b.WriteString(s.tail(s.controllerName()))
	}
	b.WriteString(s.tail("ec2sim"))
	fmt.Fprintf(&b, "logs are in %s/logs", s.Cluster.Dir)
	return b.String()
}

// telling leaves out what Kubernetes says when all is well.
func telling(e *corev1.Event) bool {
	return !slices.Contains([]string{"Scheduled", "RegisteredNode", "RemovingNode", "SuccessfulCreate", "SuccessfulDelete", "ScalingReplicaSet"}, e.Reason)
}

// tail is the end of a program's log.
func (s *Stack) tail(name string) string {
	const most = 12
	raw, err := os.ReadFile(s.Cluster.LogFile(name))
	if err != nil {
		return fmt.Sprintf("no log of %s: %v\n", name, err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	// Warnings and errors tell more than the latest lines of routine.
	seen := map[string]bool{}
	loud := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
		_, text, _ := strings.Cut(l, `"err":`)
		known := text != "" && seen[text]
		seen[text] = true
		return known || !strings.Contains(l, `"level":"ERROR"`) && !strings.Contains(l, "panic") && !strings.Contains(l, "level=ERROR")
	})
	var b strings.Builder
	for _, part := range []struct {
		title string
		lines []string
	}{{"errors", loud}, {"end", lines}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s of %s.log:\n", part.title, name)
		for _, l := range part.lines[max(0, len(part.lines)-most):] {
			fmt.Fprintf(&b, "  %.600s\n", l)
		}
	}
	return b.String()
}

// Events are those that match, oldest first; nil matches all.
func (s *Stack) Events(ctx context.Context, match func(*corev1.Event) bool) ([]corev1.Event, error) {
	list := &corev1.EventList{}
	if err := s.Client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	out := slices.DeleteFunc(list.Items, func(e corev1.Event) bool { return match != nil && !match(&e) })
	slices.SortStableFunc(out, func(a, b corev1.Event) int { return latest(&a).Compare(latest(&b)) })
	return out, nil
}

// latest is when an event last happened, in whichever field its writer put it.
func latest(e *corev1.Event) time.Time {
	at := e.CreationTimestamp.Time
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time} {
		if t.After(at) {
			at = t
		}
	}
	return at
}
