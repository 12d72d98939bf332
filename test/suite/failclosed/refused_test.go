package failclosed

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// TestRefusedWhenWritten: the webhook refuses what the table says cannot be loaded, and
// says where and why; it admits what loads.
func TestRefusedWhenWritten(t *testing.T) {
	v := policies.NewValidator(policies.Validator{Namespace: own, Engines: engine.All(), Now: time.Now})
	ask := func(t *testing.T, c brokenpolicy.Contents) *admission.Response {
		t.Helper()
		raw, err := json.Marshal(c.ConfigMap(own, "p"))
		if err != nil {
			t.Fatal(err)
		}
		out := v.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Namespace: own, Name: "p", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
		}})
		return &out
	}
	_, all := table(t)
	for column, k := range columns() {
		if got := ask(t, k.Good()); !got.Allowed {
			t.Errorf("%s: what loads is refused: %v", column, got.Result)
		}
		for row, revisions := range k.Rows() {
			if all[row] == nil {
				t.Errorf("the table lacks the row %q", row)
			}
			for _, r := range revisions {
				if got := ask(t, r.Contents); got.Allowed || !strings.Contains(got.Result.Message, r.Says) {
					t.Errorf("%s, %s, %s: allowed %v, %v; want %s", column, row, r.Name, got.Allowed, got.Result, r.Says)
				}
			}
		}
	}
}
