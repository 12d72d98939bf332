package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"spokeshave.dev/test/kit/harness"
)

// demo is the running stack with the state of the demo.
//
// Size: one method for each scene, and those that the scenes share.
type demo struct {
	*harness.Stack

	out    io.Writer
	quiet  bool
	failed []string
	held   int
	// scene is the title of the scene that runs.
	scene string
	// rest holds what later scenes need from earlier ones.
	rest
}

// rest is what scenes pass on to later ones.
type rest struct {
	// families are the instance families chosen before the rank policy was applied.
	families []string
}

// scene is one part of the demo.
type scene struct {
	title string
	play  func(*demo, context.Context) error
}

// story returns the scenes in order. Each scene continues with the cluster as the
// previous one left it.
func story() []scene {
	return []scene{
		{"Fifty pods, no nodes", (*demo).firstNodes},
		{"A rank policy of your own, in WebAssembly", (*demo).rankPolicy},
		{"A budget in Rego", (*demo).budget},
		{"Idle nodes go, protected ones stay", (*demo).consolidate},
		{"Nothing leaked", (*demo).invariant},
	}
}

// perform runs the scenes. An error ends the demo; a failed expectation is counted.
func (d *demo) perform(ctx context.Context) error {
	for i, s := range story() {
		d.scene = s.title
		start := now()
		_, _ = fmt.Fprintf(d.out, "\n== %d. %s\n", i+1, s.title)
		if err := s.play(d, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		d.say("(%s)", now().Sub(start).Round(100*time.Millisecond))
	}
	if len(d.failed) > 0 {
		return fmt.Errorf("%d expectations failed:\n  %s", len(d.failed), strings.Join(d.failed, "\n  "))
	}
	_, _ = fmt.Fprintf(d.out, "\nall of it happened; %d expectations hold\n", d.held)
	return nil
}

// say prints a line, unless the demo is quiet.
func (d *demo) say(format string, args ...any) {
	if !d.quiet {
		_, _ = fmt.Fprintf(d.out, format+"\n", args...)
	}
}

// show prints a table.
func (d *demo) show(rows [][]string) { d.say("%s", strings.TrimRight(table(rows), "\n")) }

// expect counts whether a condition holds. The demo continues in either case.
func (d *demo) expect(holds bool, format string, args ...any) { //nolint:revive // an assertion takes its condition
	text := fmt.Sprintf(format, args...)
	if holds {
		d.held++
		d.say("  ok: %s", text)
		return
	}
	_, _ = fmt.Fprintf(d.out, "  FAILED: %s\n", text)
	d.failed = append(d.failed, d.scene+": "+text)
}

// await waits until a check succeeds and prints its state, at most once a second.
func (d *demo) await(ctx context.Context, what string, within time.Duration, check harness.Check) error {
	start := now()
	told, at := "", start
	err := d.Until(ctx, what, within, func(ctx context.Context) (string, bool) {
		state, done := check(ctx)
		if !done && state != told && now().Sub(at) >= time.Second {
			d.say("  … %s", state)
			told, at = state, now()
		}
		return state, done
	})
	if err == nil {
		d.say("  %s after %s", what, now().Sub(start).Round(100*time.Millisecond))
	}
	return err
}

// now returns the current time.
func now() time.Time {
	return time.Now() //nolint:forbidigo // a demo lives on the wall clock
}
