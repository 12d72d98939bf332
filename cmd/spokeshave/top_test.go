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
		"watch":   {"there is no time below 0", []string{"--watch", "-1s"}, "--watch -1s"},
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

// TestTopWatch: it shows the nodes again and again until the context ends.
func TestTopWatch(t *testing.T) {
	config := small().serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := &until{want: "; 2 pods without a node\n", times: 2, reached: cancel}
	if code := run(ctx, []string{"top", "--kubeconfig", config, "--watch", "10ms"}, out, out); code != exitOK || !errors.Is(ctx.Err(), context.Canceled) {
		t.Errorf("exit %d: %s", code, out.text.String())
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
