package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/harness"
)

// TestVariables: whatever is left running, the lines to copy let kubectl, helm and the command
// line work on it: the pages that people follow there need all three.
func TestVariables(t *testing.T) {
	s := &harness.Stack{Cluster: &controlplane.Cluster{Dir: "/state", Kubeconfig: "/state/admin.yaml", Binaries: controlplane.Binaries{Dir: "/binaries"}}}
	for name, words := range map[string]func(io.Writer){
		"the demo":               func(w io.Writer) { goodbye(w, s) },
		"docs/tasks":             func(w io.Writer) { offer(w, s, time.Minute) },
		"the way from Karpenter": func(w io.Writer) { invite(w, s, time.Minute) },
	} {
		var out bytes.Buffer
		words(&out)
		for _, want := range []string{"export KUBECONFIG=/state/admin.yaml\n", "export PATH=" + s.CommandLineDir() + ":/binaries:\"$PATH\""} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is missing in:\n%s", name, want, out.String())
			}
		}
		if strings.Contains(out.String(), "%!") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}
