package chart

import (
	"net/http"
	"strings"
	"testing"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"spokeshave.dev/test/kit/eventually"
)

// servedBy returns the name of the FlowSchema by which the API server serves a request of the
// controller, out of the names of all by UID.
func servedBy(t *testing.T, controller *http.Client, names map[string]string, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := controller.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return names[answer.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)]
}

// checkFlowSchemas: a busy API server serves the controller's leases before all others, and
// the rest as it serves controllers of kube-system.
func (c *cluster) checkFlowSchemas(t *testing.T, config *rest.Config) {
	t.Helper()
	config = asController(config)
	controller, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	eventually.Ok(t, "the schemas to hold", func() (string, bool) {
		schemas, err := c.client.FlowcontrolV1().FlowSchemas().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error(), false
		}
		names := map[string]string{}
		for i := range schemas.Items {
			names[string(schemas.Items[i].UID)] = schemas.Items[i].Name
		}
		var wrong []string
		for path, want := range map[string]string{
			"/apis/coordination.k8s.io/v1/namespaces/system/leases/spokeshave-leader-election":     "spokeshave-leader-election",
			"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election": "spokeshave-leader-election",
			"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node":                  "spokeshave",
			"/api/v1/pods?limit=1": "spokeshave",
		} {
			if got := servedBy(t, controller, names, config.Host+path); got != want {
				wrong = append(wrong, path+" is served by "+got+", want "+want)
			}
		}
		return strings.Join(wrong, "; "), len(wrong) == 0
	})
}
