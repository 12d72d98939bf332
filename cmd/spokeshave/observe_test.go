package main

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/observe"
)

func TestObserve(t *testing.T) {
	var busy, idle observe.Observer
	for minute := range 31 {
		s := &model.Snapshot{
			Time:  time.Date(2026, 3, 11, 9, minute, 0, 0, time.UTC),
			Nodes: []model.Node{{Name: "n1", Claim: "n1", State: model.Initialized, Price: 2_000_000}},
		}
		busy.Add(s, &decide.Decision{Commands: []decide.Command{{Stage: decide.Start, Nodes: []int32{0}, Savings: 500_000}}})
	}
	for name, tc := range map[string]struct {
		reason string
		of     *observe.Observer
		args   []string
		code   int
		want   []string
	}{
		"table":    {reason: "dollars on both sides, and the difference", of: &busy, want: []string{"2.0000 $/h run", "take off 0.5000 $/h", "really      1.00", "would have  0.7500", "At least 0.2500 $ less, 25.0 %.", "(30m0s seen)"}},
		"json":     {reason: "for scripts", of: &busy, args: []string{"-o", "json"}, want: []string{`"total"`, `"micro": 750000`}},
		"nothing":  {reason: "says what mode it takes", of: &idle, code: exitUnscheduled, want: []string{"mode Observe"}},
		"backward": {reason: "a period has a length", of: &busy, args: []string{"--since", "-1h"}, code: exitBadInput, want: []string{"--since -1h0m0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.of)
			defer server.Close()
			var out, problems bytes.Buffer
			if code := run(t.Context(), append([]string{"observe", "--server", server.URL}, tc.args...), &out, &problems); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			for _, want := range tc.want {
				if all := out.String() + problems.String(); !strings.Contains(all, want) {
					t.Errorf("%s: got %q, want %q in it", tc.reason, all, want)
				}
			}
		})
	}
}
