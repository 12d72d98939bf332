package rego_test

import (
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/policy"
	loader "spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/rego"
)

// TestBombs: in a decision, what a bomb does is what its failure policy says;
// another policy keeps answering; the status shows it; and the memory is back
// when the policy is gone.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	// Each waits for a candidate: a policy without questions is tried at load.
	bombs := map[string]string{
		"time":   `deny contains "x" if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j == 0 - input.candidate.pods - 1 }`,
		"memory": `deny contains "x" if { count([sprintf("%d of many %d", [i, j]) | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i > input.candidate.pods]) < 5 }`,
		"set":    `deny contains sprintf("%d%d", [i, j]) if { some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i > input.candidate.pods }`,
	}
	const ns, header = "spokeshave", "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [consolidate]\n"
	for name, bomb := range bombs {
		for _, failure := range []policy.FailurePolicy{policy.Ignore, policy.Fail} {
			t.Run(name+"/"+string(failure), func(t *testing.T) {
				before := heap()
				l := loader.New(loader.Config{Namespace: ns, Engines: map[string]policy.Engine{rego.Name: new(rego.Engine)}, Now: func() time.Time { return time.Unix(0, 0) }})
				apply := func(name, settings, source string) {
					t.Helper()
					cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: map[string]string{
						"policy.yaml": header + settings, "p.rego": "package spokeshave.consolidate\n" + source,
					}}
					if _, err := l.Apply(t.Context(), cm); err != nil {
						t.Fatal(err)
					}
				}
				apply("bad", "failurePolicy: "+string(failure)+"\nlimits: {deadline: 60ms, memory: 32Mi}\n", bomb)
				apply("good", "priority: 1\n", `hold["a minute"] := 60 if input.candidate.node == "n"`)
				for i := range 4 {
					panel := policy.NewPanel(l.Policies(), nil)
					out := panel.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}},
						func(*policy.Match, int) bool { return true })
					bad := panel.Uses()[0]
					if bad.Name != "bad" || bad.Faults != 1 {
						t.Fatalf("call %d: %+v", i, bad)
					}
					want := policy.Hold
					if failure == policy.Fail {
						want = policy.Deny
					}
					if out[0].Verdict != want {
						t.Errorf("call %d: %+v under %s", i, out[0], failure)
					}
					if good := panel.Uses()[1]; good.Denied != 1 || good.Faults != 0 {
						t.Errorf("call %d: the other policy was not heard: %+v", i, good)
					}
				}
				s := l.Status()[0]
				if s.Name != "bad" || s.State != loader.Tripped || s.Reason == "" || s.Faults != 3 {
					t.Errorf("status %+v", s)
				}
				for _, name := range []string{"bad", "good"} {
					if _, err := l.Delete(t.Context(), loader.Key{Namespace: ns, Name: name}); err != nil {
						t.Error(err)
					}
				}
				if after := heap(); after > before+16<<20 {
					t.Errorf("heap grew from %d to %d MiB", before>>20, after>>20)
				}
			})
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
