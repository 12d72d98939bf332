package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
)

func TestExplain(t *testing.T) {
	entries := []journal.Entry{{
		ID: "d1",
		Nodes: []journal.Node{{
			Claim: "general-1", NodePool: "general", Pods: []string{"default/web"},
			Best:       model.Option{InstanceType: "c7g.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Price: 72_500, Effective: 0.0725},
			OtherTypes: []model.Option{{InstanceType: "m7g.large", Zone: "us-west-2b", CapacityType: model.Spot, Price: 81_600, Effective: 0.0816}},
		}},
		Existing: []journal.Placed{{Node: "ip-1", Pods: []string{"shop/cart"}}},
	}}
	kubeconfig := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(kubeconfig, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"shop"}}],
"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}],"users":[{"name":"u","user":{}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", "") // not that of whoever runs the test
	t.Setenv("HOME", t.TempDir())
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
	t.Run("variable", func(t *testing.T) {
		t.Setenv(serverVariable, server.URL)
		var out, problems bytes.Buffer
		if code := run(t.Context(), []string{"explain", "pod", "web"}, &out, &problems); code != 0 || !strings.Contains(out.String(), "c7g.large (on-demand)") {
			t.Errorf("%s stands in for --server: exit code %d\n%s%s", serverVariable, code, &out, &problems)
		}
	})
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"pod":          {reason: "a pod without a namespace is in default", args: []string{"pod", "web"}, want: "c7g.large (on-demand) in us-west-2a at 0.0725 $/h"},
		"table":        {reason: "what another type would have cost is a row", args: []string{"pod", "web"}, want: "    m7g.large  us-west-2b  spot       0.0816  0.0816\n"},
		"namespace":    {reason: "-n as kubectl has it", args: []string{"pod", "cart", "-n", "shop"}, want: "planned onto node ip-1"},
		"context":      {reason: "else that of the kubeconfig's context", args: []string{"pod", "cart", "--kubeconfig", kubeconfig}, want: "planned onto node ip-1"},
		"both":         {reason: "a name that says its namespace", args: []string{"pod", "default/web", "-n", "shop"}, want: "c7g.large (on-demand)"},
		"claim":        {reason: "claims are asked for like nodes", args: []string{"nodeclaim", "general-1"}, want: "it was launched"},
		"json":         {reason: "for scripts", args: []string{"nodepool", "general", "-o", "json"}, want: `"instanceType": "c7g.large"`},
		"unknown pod":  {reason: "nothing known is not an answer", args: []string{"pod", "other"}, code: exitUnscheduled, want: "none of the 1 decisions"},
		"unknown node": {reason: "its other name may be known", args: []string{"node", "ip-9"}, code: exitUnscheduled, want: "is known by its NodeClaim's name"},
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
