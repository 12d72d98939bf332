package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/rehearse/top"
)

// topOfKarpenter shows the nodes that Karpenter launched, with prices.
func topOfKarpenter(t *testing.T, kubeconfig string) {
	t.Helper()
	var s top.Summary
	code, stdout, stderr := command(t, "top", "--kubeconfig", kubeconfig, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if s.Total.Nodes < 14 || s.Total.Price <= 0 || s.Total.CPU.Percent() <= 0 {
		t.Errorf("total: %+v", s.Total)
	}
	code, stdout, _ = command(t, "top", "--kubeconfig", kubeconfig, "--nodepool", "general", "--sort", "cpu")
	if lines := strings.Split(stdout, "\n"); code != exitOK || len(lines) < 4 || !strings.Contains(lines[1], " general ") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}

func TestTopRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"order":   {"an unknown order is a slip", []string{"--sort", "prize"}, "--sort prize: want one of price,"},
		"name":    {"nodes are not named one by one", []string{"system-1"}, "unexpected argument \"system-1\""},
		"watch":   {"there is no time below 0", []string{"--watch=-1s"}, "--watch -1s"},
		"prices":  {"both say which prices hold", []string{"--catalog", "x", "--region", "eu-west-1"}, "exclude each other"},
		"cluster": {"a cluster that does not answer is named", []string{"--kubeconfig", kubeconfigOf(t, "http://127.0.0.1:1")}, "127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, stderr := command(t, append([]string{"top"}, c.args...)...); code != exitBadInput || !strings.Contains(stderr, c.want) {
				t.Errorf("%s: exit %d: %s", c.reason, code, stderr)
			}
		})
	}
}

// TestTopWatch: it shows the nodes again and again until the context ends, after the
// interval that is given, or one of its own.
func TestTopWatch(t *testing.T) {
	config := small().serve(t)
	for name, tc := range map[string]struct {
		args  []string
		times int
	}{
		"an interval":           {[]string{"--watch", "10ms"}, 2},
		"an interval by equals": {[]string{"--watch=10ms"}, 2},
		"none":                  {[]string{"-w"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out := &until{want: "; 2 pods without a node\n", times: tc.times, reached: cancel}
			if code := run(ctx, append([]string{"top", "--kubeconfig", config}, tc.args...), out, out); code != exitOK || !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("exit %d: %s", code, out.text.String())
			}
		})
	}
}

// until calls reached when a text has been written so many times.
type until struct {
	text    strings.Builder
	want    string
	times   int
	reached func()
}

func (u *until) Write(p []byte) (int, error) {
	n, _ := u.text.Write(p) // never fails
	if strings.Count(u.text.String(), u.want) >= u.times {
		u.reached()
	}
	return n, nil
}
