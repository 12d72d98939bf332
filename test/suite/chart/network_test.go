package chart

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// TestNetworkPolicy: nobody reaches the pods but who is named, on the port that they are
// named for. Every port of a rule is one of the pod's by its name.
func TestNetworkPolicy(t *testing.T) {
	const from = `[{namespaceSelector: {matchLabels: {name: monitoring}}}]`
	for name, tc := range map[string]struct {
		reason, values string
		// want are the ports that let somebody in, "open" those that let in everybody.
		want []string
	}{
		"defaults":    {"closed", ``, nil},
		"metrics":     {"for who is named", `networkPolicy: {metricsFrom: ` + from + `}`, []string{"https-metrics"}},
		"unencrypted": {"the port's name says so", `{controller: {metrics: {secure: false}}, networkPolicy: {metricsFrom: ` + from + `}}`, []string{"http-metrics"}},
		"loopback":    {"the page is not on the network", `{web: {enabled: true}, networkPolicy: {webFrom: ` + from + `}}`, nil},
		"page":        {"for who is named", `{web: {enabled: true, service: true}, networkPolicy: {webFrom: ` + from + `}}`, []string{"https-web"}},
		"page alone":  {"a Service alone opens nothing", `web: {enabled: true, service: true}`, nil},
		"webhook":     {"the API server has no labels", `webhook: {enabled: true}`, []string{"https-webhook open"}},
		"its address": {"or it has an address", `{webhook: {enabled: true}, networkPolicy: {webhookFrom: [{ipBlock: {cidr: 10.0.0.0/28}}]}}`, []string{"https-webhook"}},
	} {
		t.Run(name, func(t *testing.T) {
			objs := newHelm(t).render(t, tc.values)
			p := get[networkingv1.NetworkPolicy](t, objs, "NetworkPolicy/spokeshave")
			ports := get[appsv1.Deployment](t, objs, "Deployment/spokeshave").Spec.Template.Spec.Containers[0].Ports
			var got []string
			for _, rule := range p.Spec.Ingress {
				port := rule.Ports[0].Port.StrVal
				if !slices.ContainsFunc(ports, func(p corev1.ContainerPort) bool { return p.Name == port }) {
					t.Errorf("the pod has no port %s: %v", port, ports)
				}
				if len(rule.From) == 0 {
					port += " open"
				}
				got = append(got, port)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if !slices.Equal(p.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}) {
				t.Errorf("types %v: the controller must reach the API server and AWS", p.Spec.PolicyTypes)
			}
		})
	}
	if newHelm(t).render(t, `networkPolicy: {enabled: false}`)["NetworkPolicy/spokeshave"] != nil {
		t.Error("a NetworkPolicy that nobody wants")
	}
}

// TestServicesLeadToPods: every port of a Service is one of the pod's by its name, and
// the port of the loopback address is none of them.
func TestServicesLeadToPods(t *testing.T) {
	objs := newHelm(t).render(t, `{web: {enabled: true, service: true}, webhook: {enabled: true}}`)
	ports := get[appsv1.Deployment](t, objs, "Deployment/spokeshave").Spec.Template.Spec.Containers[0].Ports
	for _, key := range []string{"Service/spokeshave", "Service/spokeshave-web", "Service/spokeshave-webhook"} {
		for _, p := range get[corev1.Service](t, objs, key).Spec.Ports {
			at := slices.IndexFunc(ports, func(c corev1.ContainerPort) bool { return c.Name == p.TargetPort.StrVal })
			if at < 0 || ports[at].Name == "http-local" {
				t.Errorf("%s leads to %v, of %v", key, p.TargetPort, ports)
			}
		}
	}
}
