package chart

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"spokeshave.dev/controller/kube/reconcile/policies"
)

// TestWebhook: the webhook asks about policies only, where they are watched,
// and cannot keep anything from being applied while it is away.
func TestWebhook(t *testing.T) {
	objs := newHelm(t).render(t, `{webhook: {enabled: true, port: 9999, clientCA: "-----BEGIN CERTIFICATE-----"}, policies: {pluginNamespaces: [team-a]}, networkPolicy: {metricsFrom: [{podSelector: {}}]}}`)
	config := get[admissionv1.ValidatingWebhookConfiguration](t, objs, "ValidatingWebhookConfiguration/spokeshave-webhook-system")
	w := config.Webhooks[0]
	if len(config.Webhooks) != 1 || *w.FailurePolicy != admissionv1.Ignore || w.ObjectSelector.MatchLabels["spokeshave.dev/policy"] != "true" ||
		!slices.Equal(w.NamespaceSelector.MatchExpressions[0].Values, []string{"system", "team-a"}) {
		t.Errorf("%+v", w)
	}
	s := w.ClientConfig.Service
	if s == nil || s.Namespace != "system" || s.Name != "spokeshave-webhook" || *s.Path != policies.ValidatorPath {
		t.Errorf("service %+v", s)
	}

	secret := get[corev1.Secret](t, objs, "Secret/spokeshave-webhook")
	pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	if string(secret.Data["client-ca.crt"]) != "-----BEGIN CERTIFICATE-----" {
		t.Errorf("the CA of clients does not arrive: %q", secret.Data["client-ca.crt"])
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.ClientConfig.CABundle)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "spokeshave-webhook.system.svc"}); err != nil {
		t.Errorf("the API server would not trust the certificate: %v", err)
	}

	pod := get[appsv1.Deployment](t, objs, "Deployment/spokeshave").Spec.Template.Spec
	c := pod.Containers[0]
	if !slices.Contains(c.Args, "--webhook-port=9999") || !slices.Contains(c.Args, "--webhook-cert-dir="+c.VolumeMounts[0].MountPath) {
		t.Errorf("args %v", c.Args)
	}
	if pod.Volumes[0].Name != c.VolumeMounts[0].Name || pod.Volumes[0].Secret.SecretName != secret.Name {
		t.Errorf("volumes %+v", pod.Volumes)
	}
	port := get[corev1.Service](t, objs, "Service/spokeshave-webhook").Spec.Ports[0].TargetPort.StrVal
	if !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port && p.ContainerPort == 9999 }) {
		t.Errorf("no port %s in %+v", port, c.Ports)
	}
	in := get[networkingv1.NetworkPolicy](t, objs, "NetworkPolicy/spokeshave").Spec.Ingress
	if len(in) != 2 || in[1].Ports[0].Port.StrVal != port {
		t.Errorf("ingress %+v", in)
	}
}
