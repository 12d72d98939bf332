package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	certutil "k8s.io/client-go/util/cert"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/user"
)

// noPatchOfPods: an administrator's admission policy (Kyverno, Gatekeeper) refuses that
// add-ons patch pods. The controller cannot write the tolerations that lead pods to the
// nodes reserved for them; all pods run all the same.
func noPatchOfPods(t *testing.T) {
	work(t, 0)
	at := metav1.ObjectMeta{Name: "demand-no-patch-of-pods"}
	fail := admissionregistrationv1.Fail
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: at, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionregistrationv1.RuleWithOperations{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			},
		}}},
		Validations: []admissionregistrationv1.Validation{{
			Expression: "request.userInfo.username != 'system:serviceaccount:" + harness.Namespace + ":spokeshave'", Message: "add-ons do not patch pods",
		}},
	}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: at, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: at.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
	}}
	user.Create(t, stack.Client, policy, binding)
	t.Cleanup(func() {
		for _, err := range []error{
			stack.Client.Delete(context.WithoutCancel(t.Context()), binding), stack.Client.Delete(context.WithoutCancel(t.Context()), policy),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	refused := false
	for round := 0; round < 5 && !refused; round++ { // it takes some seconds until the API server obeys
		work(t, 3)
		pods, err := stack.Pods(t.Context(), "default", map[string]string{"app": "work"})
		if err != nil {
			t.Fatal(err)
		}
		refused = !slices.ContainsFunc(pods, func(p corev1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return strings.HasPrefix(t.Key, karpv1.Domain+"/reserved") })
		})
		work(t, 0)
	}
	if !refused {
		t.Error("the controller patched pods in every round: the admission policy was not in force")
	}
}

// besiege has a network neighbour send the webhook, which knows no client certificate here,
// requests from forty connections at a time. The controller stays within bounds, and pods
// get their nodes.
func besiege(t *testing.T, body func(i int) []byte) {
	t.Helper()
	at := webhook(t)
	serve(t) // what the controller takes for its work, it takes once
	before := settledMemory(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			for ctx.Err() == nil {
				if code := post(ctx, at, body(i)); code == http.StatusServiceUnavailable {
					time.Sleep(100 * time.Millisecond) //nolint:forbidigo // a neighbour that does not wait at all starves the test, not the controller
				}
			}
		})
	}
	serve(t)
	during := grew(t, before)
	stop()
	all.Wait()
	if during > neighbours {
		t.Error("the controller grew by more than neighbours may cost")
	}
}

// neighbours is how many bytes the controller may grow by requests to the webhook: eight
// of 6 MB, each of which is read and decoded.
const neighbours = 150 << 20

// webhook starts the controller again with the webhook, until the test ends, and returns
// its URL.
func webhook(t *testing.T) string {
	t.Helper()
	text, key, err := certutil.GenerateSelfSignedCertKeyWithFixtures("localhost", []net.IP{{127, 0, 0, 1}}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, contents := range map[string][]byte{"tls.crt": text, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), contents, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, ok := l.Addr().(*net.TCPAddr)
	if err := l.Close(); err != nil || !ok {
		t.Fatal(err)
	}
	again := func(ctx context.Context, flags ...string) {
		if err := stack.StopController(ctx, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := stack.StartController(ctx, flags...); err != nil {
			t.Fatal(err)
		}
	}
	again(t.Context(), "--webhook-port="+strconv.Itoa(address.Port), "--webhook-cert-dir="+dir)
	t.Cleanup(func() { again(context.WithoutCancel(t.Context())) })
	return fmt.Sprintf("https://127.0.0.1:%d/validate-policy", address.Port)
}

// review is the request by which the API server would ask about a policy.
func review(t *testing.T, name, code string) []byte {
	t.Helper()
	cm, err := json.Marshal(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data:       map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n", "p.rego": code},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: types.UID(name), Namespace: harness.Namespace, Name: name, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: cm},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// post sends a request and returns the status, 0 when there was no answer.
func post(ctx context.Context, url string, body []byte) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := stranger.Do(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
