// Package enginetest holds every engine to the same promises about hostile
// policies: what they do is what their failure policy says, another policy
// keeps answering, the status shows it, and the memory comes back.
//
// Not here: what is hostile in one engine's language, which its own tests say.
package enginetest

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
)

// Namespace is where the suite's policies live.
const Namespace = "spokeshave"

// Contents are the parts of a policy's ConfigMap.
type Contents struct {
	Settings string // of policy.yaml, but for the apiVersion
	Data     map[string]string
	Binary   map[string][]byte
}

// ConfigMap is a policy of these contents.
func (c Contents) ConfigMap(name string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Data:       map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\n" + c.Settings},
		BinaryData: c.Binary,
	}
	maps.Copy(cm.Data, c.Data)
	return cm
}

// Loader loads policies of one engine; its clock stands still.
func Loader(name string, engine policy.Engine) *load.Loader {
	return load.New(load.Config{
		Namespace: Namespace, Engines: map[string]policy.Engine{name: engine},
		Now: func() time.Time { return time.Unix(0, 0) },
	})
}

// Hostile is a policy that loads and faults at every question, and one that
// answers beside it.
type Hostile struct {
	// Engine is the name of the engine, New makes one.
	Engine string
	New    func() policy.Engine
	// Bad faults, Good answers: it should have the higher priority number.
	Bad, Good Contents
	// Ask puts the question to both. It says what is wrong with the outcome
	// when Bad is under this failure policy, and Good is heard.
	Ask func(ctx context.Context, panel *policy.Panel, failure policy.FailurePolicy) error
	// Kept is how many bytes of heap may stay when both are gone.
	Kept uint64
}

// Run makes four decisions with the policies under either failure policy: in
// the last one the breaker has switched the bad one off.
func (h *Hostile) Run(t *testing.T) {
	for _, failure := range []policy.FailurePolicy{policy.Ignore, policy.Fail} {
		t.Run(string(failure), func(t *testing.T) { h.run(t, failure) })
	}
}

func (h *Hostile) run(t *testing.T, failure policy.FailurePolicy) {
	before := Heap()
	l := Loader(h.Engine, h.New())
	bad := h.Bad
	bad.Settings += "failurePolicy: " + string(failure) + "\n"
	for name, c := range map[string]Contents{"bad": bad, "good": h.Good} {
		if _, err := l.Apply(t.Context(), c.ConfigMap(name)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		panel := policy.NewPanel(l.Policies(), nil)
		if err := h.Ask(t.Context(), panel, failure); err != nil {
			t.Errorf("call %d under %s: %v", i, failure, err)
		}
		if err := uses(panel); err != nil {
			t.Fatalf("call %d under %s: %v", i, failure, err)
		}
	}
	if s := l.Status()[0]; s.Name != "bad" || s.State != policy.StateTripped || s.Reason == "" || s.Faults != 3 {
		t.Errorf("status %+v", s)
	}
	for _, name := range []string{"bad", "good"} {
		if _, err := l.Delete(t.Context(), load.Key{Namespace: Namespace, Name: name}); err != nil {
			t.Error(err)
		}
	}
	if after := Heap(); after > before+h.Kept {
		t.Errorf("heap grew from %d to %d MiB", before>>20, after>>20)
	}
}

// uses looks at who has been asked: a rank policy that fails closed ends the
// pipeline, so that good may be missing.
func uses(panel *policy.Panel) error {
	all := panel.Uses()
	if bad := all[0]; bad.Name != "bad" || bad.Faults != 1 {
		return fmt.Errorf("want one fault of bad: %+v", bad)
	}
	for _, other := range all[1:] {
		if other.Faults != 0 {
			return fmt.Errorf("the other policy is at fault: %+v", other)
		}
	}
	return nil
}

// Heap is the memory in use, in bytes, when the collector has run.
func Heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
