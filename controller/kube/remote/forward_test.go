package remote

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/test/kit/portforward"
)

// cluster serves the requests that Forward sends to an API server: the lease, the pod,
// and the pod's port, which is forwarded to target.
func cluster(t *testing.T, holder, target string) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, o any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(o); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("GET /apis/coordination.k8s.io/v1/namespaces/system/leases/lead", func(w http.ResponseWriter, _ *http.Request) {
		lease := coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}}
		lease.Spec.HolderIdentity = &holder
		reply(w, lease)
	})
	mux.HandleFunc("GET /api/v1/namespaces/system/pods/spokeshave-1", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, corev1.Pod{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			Spec:     corev1.PodSpec{Containers: []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 1}, {Name: "http-local", ContainerPort: 9090}}}}},
		})
	})
	mux.Handle("/api/v1/namespaces/system/pods/spokeshave-1/portforward", portforward.Handler(target, func(port string) {
		if port != "9090" {
			t.Errorf("forwards to port %s", port)
		}
	}))
	return mux
}

func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"` + server +
		`"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestForward(t *testing.T) {
	controller := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "journal at "+r.URL.Path)
	}))
	t.Cleanup(controller.Close)
	at, err := url.Parse(controller.URL)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ reason, holder, lease, want string }{
		"leader":   {reason: "the pod is the holder's name without the process", holder: "spokeshave-1_17", lease: "lead", want: "journal at /decisions"},
		"no lease": {reason: "says where it looked", holder: "spokeshave-1_17", lease: "other", want: "no lease system/other"},
		"nobody":   {reason: "says that nobody leads", lease: "lead", want: "nobody holds lease"},
		"laptop":   {reason: "a controller beside the cluster has no pod", holder: "laptop_4", lease: "lead", want: "--server"},
	} {
		t.Run(name, func(t *testing.T) {
			api := httptest.NewServer(cluster(t, tc.holder, at.Host))
			t.Cleanup(api.CloseClientConnections)
			got, err := Forward(t.Context(), Access{Kubeconfig: kubeconfig(t, api.URL)}, Leader{Namespace: "system", Lease: tc.lease})
			if err == nil {
				got = fetch(t, got+"/decisions")
			} else {
				got = err.Error()
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("%s: %q, want %q in it", tc.reason, got, tc.want)
			}
		})
	}
}

func fetch(t *testing.T, where string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, where, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
