package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"spokeshave.dev/controller/journal"
	"spokeshave.dev/controller/model"
)

func TestExplain(t *testing.T) {
	entries := []journal.Entry{{
		ID: "d1",
		Nodes: []journal.Node{{
			Claim: "general-1", NodePool: "general", Pods: []string{"default/web"},
			Best: model.Option{InstanceType: "c7g.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Price: 72_500, Effective: 0.0725},
		}},
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/decisions" {
			http.NotFound(w, r)
			return
		}
		if err := json.NewEncoder(w).Encode(entries); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"pod":          {reason: "a pod without a namespace is in default", args: []string{"pod", "web"}, want: "c7g.large (on-demand) in us-west-2a at 0.0725 $/h"},
		"claim":        {reason: "claims are asked for like nodes", args: []string{"nodeclaim", "general-1"}, want: "it was launched"},
		"json":         {reason: "for scripts", args: []string{"nodepool", "general", "-o", "json"}, want: `"instanceType": "c7g.large"`},
		"unknown pod":  {reason: "nothing known is not an answer", args: []string{"pod", "other"}, code: exitUnscheduled, want: "none of the 1 decisions"},
		"unknown kind": {reason: "the kinds are named", args: []string{"service", "web"}, code: exitBadInput, want: "want pod, node, nodeclaim or nodepool"},
		"no server":    {reason: "says what to do", args: []string{"pod", "web", "--server", "http://127.0.0.1:1"}, code: exitBadInput, want: "is --server where"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, problems bytes.Buffer
			args := append([]string{"explain", "--server", server.URL}, tc.args...)
			if code := run(t.Context(), args, &out, &problems); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			if all := out.String() + problems.String(); !strings.Contains(all, tc.want) {
				t.Errorf("%s: got %q, want %q in it", tc.reason, all, tc.want)
			}
		})
	}
}
