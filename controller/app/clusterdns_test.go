package app

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestClusterDNS: the address is that of the service kube-dns, which a cluster may lack.
func TestClusterDNS(t *testing.T) {
	const found = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"kube-dns","namespace":"kube-system"},"spec":{"clusterIP":%q}}`
	for name, c := range map[string]struct {
		reason string
		code   int
		answer string
		want   string
		failed bool
	}{
		"found":     {reason: "an address", code: http.StatusOK, answer: fmt.Sprintf(found, "10.100.0.10"), want: "10.100.0.10"},
		"headless":  {reason: "no address of its own", code: http.StatusOK, answer: fmt.Sprintf(found, "None")},
		"absent":    {reason: "no such service", code: http.StatusNotFound, answer: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`},
		"forbidden": {reason: "RBAC does not allow it", code: http.StatusForbidden, answer: `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
				if in.URL.Path != "/api/v1/namespaces/kube-system/services/kube-dns" {
					t.Errorf("asked for %s", in.URL.Path)
				}
				out.Header().Set("Content-Type", "application/json")
				out.WriteHeader(c.code)
				_, _ = fmt.Fprint(out, c.answer)
			}))
			t.Cleanup(server.Close)
			mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
			mapper.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
			api, err := client.New(&rest.Config{Host: server.URL}, client.Options{Mapper: mapper})
			if err != nil {
				t.Fatal(err)
			}
			got, err := clusterDNS(t.Context(), api)
			if got != c.want || c.failed != (err != nil) {
				t.Errorf("%s: %q, %v", c.reason, got, err)
			}
		})
	}
}
