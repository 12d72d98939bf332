package chart

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestObservability: rules and dashboards come only when asked for, and whole.
func TestObservability(t *testing.T) {
	h := newHelm(t)
	for key := range h.render(t, ``) {
		if strings.Contains(key, "dashboard") || strings.HasPrefix(key, "PrometheusRule/") {
			t.Errorf("%s without being asked for", key)
		}
	}
	objs := h.render(t, `
dashboards: {enabled: true, namespace: monitoring, annotations: {grafana_folder: Spokeshave}}
prometheusRule: {enabled: true, additionalLabels: {release: prometheus}}
serviceMonitor: {enabled: true}
`)
	for values, want := range map[string]string{
		`web: {enabled: true}`:                            "--web-address=127.0.0.1:8082",
		`web: {enabled: true, service: true, port: 9000}`: "--web-address=:9000",
	} {
		objs := h.render(t, values)
		d := get[appsv1.Deployment](t, objs, "Deployment/spokeshave")
		if !slices.Contains(d.Spec.Template.Spec.Containers[0].Args, want) || (objs["Service/spokeshave-web"] != nil) != strings.Contains(values, "service") {
			t.Errorf("%s: arguments %v, service %v", values, d.Spec.Template.Spec.Containers[0].Args, objs["Service/spokeshave-web"])
		}
	}
	boards := 0
	for key := range objs {
		if !strings.HasPrefix(key, "ConfigMap/monitoring/spokeshave-dashboard-") {
			continue
		}
		boards++
		cm := get[corev1.ConfigMap](t, objs, key)
		if cm.Namespace != "monitoring" || cm.Labels["grafana_dashboard"] != "1" || cm.Annotations["grafana_folder"] != "Spokeshave" {
			t.Errorf("%s: Grafana would not find it: %+v", key, cm.ObjectMeta)
		}
		for name, text := range cm.Data {
			if !json.Valid([]byte(text)) || !strings.HasSuffix(name, ".json") {
				t.Errorf("%s: %s is no JSON", key, name)
			}
		}
	}
	if boards != 6 {
		t.Errorf("%d dashboards, want 6", boards)
	}
	rules := objs["PrometheusRule/spokeshave"]
	if rules == nil {
		t.Fatal("no PrometheusRule")
	}
	groups, _, err := unstructured.NestedSlice(rules.Object, "spec", "groups")
	if err != nil || len(groups) != 2 || rules.GetLabels()["release"] != "prometheus" {
		t.Errorf("rules %+v: %v", rules.Object, err)
	}
	endpoints, _, err := unstructured.NestedSlice(objs["ServiceMonitor/spokeshave"].Object, "spec", "endpoints")
	if err != nil || len(endpoints) != 1 {
		t.Fatalf("endpoints %v: %v", endpoints, err)
	}
	e, ok := endpoints[0].(map[string]any)
	if !ok || e["honorLabels"] != true {
		t.Errorf("the metrics' own namespaces would be renamed: %v", endpoints[0])
	}
	if e["scheme"] != "https" || e["bearerTokenFile"] == nil || e["port"] != "https-metrics" {
		t.Errorf("Prometheus would not be let in: %v", e)
	}
	open := h.render(t, `{controller: {metrics: {secure: false}}, serviceMonitor: {enabled: true}}`)
	endpoints, _, err = unstructured.NestedSlice(open["ServiceMonitor/spokeshave"].Object, "spec", "endpoints")
	if e, ok := endpoints[0].(map[string]any); err != nil || !ok || e["bearerTokenFile"] != nil || e["port"] != "http-metrics" {
		t.Errorf("Prometheus would send its token without encryption: %v, %v", endpoints[0], err)
	}
}
