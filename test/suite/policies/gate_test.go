package policies

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

// certificate writes tls.crt and tls.key for the loopback and returns their
// folder and the certificate.
func certificate(t *testing.T) (dir string, bundle []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "gate"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	bundle = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, text := range map[string][]byte{
		"tls.crt": bundle, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, bundle
}

// serveGate runs a gate and gives its URL.
func serveGate(t *testing.T, server *apiserver.Server, certDir string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	mgr := server.Manager(t, func(o *ctrl.Options) {
		o.WebhookServer = webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certDir})
	})
	mgr.GetWebhookServer().Register(policies.ValidatorPath, &webhook.Admission{Handler: policies.NewValidator(policies.Validator{
		Namespace: namespace, Plugins: []string{"plugins"}, Engines: engine.All(), Now: time.Now,
	})})
	apiserver.Run(t, mgr)
	return "https://127.0.0.1:" + strconv.Itoa(port) + policies.ValidatorPath
}

// TestGate: the API server refuses a broken policy with the words of vet, and
// nothing else.
func TestGate(t *testing.T) {
	server := apiserver.Start(t)
	c := server.Client(t)
	for _, ns := range []string{namespace, "plugins", "other"} {
		if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
			t.Fatal(err)
		}
	}
	// What was broken before there was a gate must stay editable.
	if err := c.Create(t.Context(), renamed("old", namespace, broken)); err != nil {
		t.Fatal(err)
	}
	dir, bundle := certificate(t)
	url := serveGate(t, server, dir)
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	err := c.Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "policies.spokeshave.dev", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &fail,
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"spokeshave.dev/policy": "true"}},
			ClientConfig:   admissionv1.WebhookClientConfig{URL: &url, CABundle: bundle},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const refused = `admission webhook "policies.spokeshave.dev" denied the request: `
	// The API server learns of the webhook in its own time.
	eventually.Ok(t, "the gate to close", func() (string, bool) {
		err := c.Create(t.Context(), renamed("broken", namespace, broken), client.DryRunAll)
		return "", err != nil && strings.Contains(err.Error(), refused)
	})

	sources, err := author.Open(t.Context(), folder(t, broken))
	if err != nil {
		t.Fatal(err)
	}
	vet := sources[0].Find(t.Context(), namespace, time.Now()).Reason
	if err := c.Create(t.Context(), budgetPolicy(broken)); err == nil || err.Error() != refused+vet {
		t.Errorf("got  %v\nwant %s%s", err, refused, vet)
	}
	if err := c.Create(t.Context(), budgetPolicy(good)); err != nil {
		t.Errorf("a good policy: %v", err)
	}
	if err := c.Update(t.Context(), budgetPolicy(broken)); err == nil || !strings.Contains(err.Error(), "budget.rego:") {
		t.Errorf("a good policy becomes a broken one: %v", err)
	}
	if err := c.Create(t.Context(), renamed("budget", "plugins", good)); err == nil || !strings.Contains(err.Error(), "hook ceiling is for policies in namespace "+namespace) {
		t.Errorf("a ceiling among the plugins: %v", err)
	}
	// What docs/security.md calls unreadable is refused, with the place and the right word.
	for manifest, want := range map[string]string{
		"":                                 "policy.yaml is missing",
		"hooks: {":                         "policy.yaml:2:1: ",
		"hooks: [celing]":                  `policy.yaml:2:9: hooks: "celing" is not one of rank, consolidate, ceiling: did you mean ceiling?`,
		"hooks: ceiling":                   "policy.yaml:2:8: hooks: want a list: hooks: [ceiling]",
		"Hooks: [ceiling]":                 `policy.yaml:2:1: unknown field "Hooks": did you mean hooks?`,
		"hooks: [ceiling]\npriority: high": "policy.yaml:3:11: priority: want a whole number, not string",
	} {
		cm := renamed("unreadable", namespace, good)
		cm.Data["policy.yaml"] = "apiVersion: " + load.APIVersion + "\n" + manifest
		if manifest == "" {
			delete(cm.Data, "policy.yaml")
		}
		if err := c.Create(t.Context(), cm); err == nil || !strings.Contains(err.Error(), refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", manifest, err, want)
		}
	}
	if err := c.Create(t.Context(), renamed("budget", "other", broken)); err != nil {
		t.Errorf("a namespace that nobody watches: %v", err)
	}
	old := renamed("old", namespace, broken)
	old.Annotations = map[string]string{"note": "to be mended"}
	if err := c.Update(t.Context(), old); err != nil {
		t.Errorf("a note on a policy that was broken before: %v", err)
	}
}

func renamed(name, ns, source string) *corev1.ConfigMap {
	cm := budgetPolicy(source)
	cm.Name, cm.Namespace = name, ns
	return cm
}
