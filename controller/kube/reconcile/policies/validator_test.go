package policies

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"spokeshave.dev/controller/core/policy"
)

// lenient is an engine that compiles everything but code that says so.
type lenient struct{}

func (lenient) Compile(_ context.Context, src *policy.Source) (policy.Compiled, error) {
	for name, text := range src.Files {
		if strings.Contains(text, "broken") {
			return nil, errors.New(name + ":1:1: broken")
		}
	}
	return &judged{info: src.Info}, nil
}

// judged is what lenient compiles.
type judged struct {
	policy.Policy

	info policy.Info
}

func (j *judged) Info() policy.Info         { return j.info }
func (j *judged) Stats() policy.Stats       { return policy.Stats{} }
func (*judged) Close(context.Context) error { return nil }

// FuzzHandle: whatever the webhook is sent, it answers: it refuses with a text, refuses what is
// no ConfigMap, or admits. What it admits without a look is no policy, or one that does not
// change. A second look says the same.
func FuzzHandle(f *testing.F) {
	const good = `{"metadata":{"labels":{"spokeshave.dev/policy":"true"}},"data":{"policy.yaml":"apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]","p.rego":"x"}}`
	for _, object := range []string{good, `{}`, `{"metadata":{"labels":{"spokeshave.dev/policy":"true"}}}`, `{"data":[1]}`, `null`, `{"metadata":{"labels":{"spokeshave.dev/policy":"true"}},"binaryData":{"module.wasm.gz":"H4sI"}}`} {
		f.Add([]byte(object), []byte(nil), "spokeshave", "p")
		f.Add([]byte(object), []byte(good), "plugins", "p")
		f.Add([]byte(object), []byte(`{"data":{}}`), "elsewhere", "")
	}
	f.Fuzz(func(t *testing.T, object, old []byte, namespace, name string) {
		g := NewValidator(Validator{
			Namespace: "spokeshave", Plugins: []string{"plugins"}, Scopes: map[string]policy.Scope{"plugins": {}},
			Engines: map[string]policy.Engine{"rego": lenient{}}, Now: func() time.Time { return time.Unix(0, 0) },
		})
		req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Namespace: namespace, Name: name, Object: runtime.RawExtension{Raw: object}, OldObject: runtime.RawExtension{Raw: old},
		}}
		got := g.Handle(t.Context(), req)
		if got.Result == nil || !got.Allowed && got.Result.Message == "" {
			t.Fatalf("no reason: %+v", got)
		}
		if code := got.Result.Code; got.Allowed != (code == http.StatusOK) || !got.Allowed && code != http.StatusForbidden && code != http.StatusBadRequest {
			t.Errorf("allowed %t, code %d", got.Allowed, code)
		}
		if watched := namespace == "spokeshave" || namespace == "plugins"; !watched && got.Result.Code == http.StatusForbidden {
			t.Errorf("a ConfigMap of namespace %q was judged: %s", namespace, got.Result.Message)
		}
		if again := g.Handle(t.Context(), req); again.Allowed != got.Allowed || again.Result.Message != got.Result.Message {
			t.Errorf("%+v, then %+v", got.Result, again.Result)
		}
	})
}
