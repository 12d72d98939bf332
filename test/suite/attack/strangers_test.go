package attack

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/user"
)

// stranger is somebody who reaches the controller's ports. It trusts any certificate, as
// an attacker does.
var stranger = &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}} //nolint:gosec // see above

// get asks for a URL and returns the status, 0 when there was no HTTP answer, and what came.
func get(ctx context.Context, where, host, token string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, where, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	req.Host = host
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := stranger.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(body)
}

// tokenOf makes a ServiceAccount with rights in the whole cluster and returns its token.
func tokenOf(t *testing.T, name, rules string) string {
	t.Helper()
	made := user.Account(harness.Namespace, name, nil, user.Rules(t, rules))
	user.Create(t, stack.Client, made...)
	t.Cleanup(func() {
		for _, o := range made {
			if err := stack.Client.Delete(context.WithoutCancel(t.Context()), o); err != nil {
				t.Error(err)
			}
		}
	})
	path, err := stack.Cluster.KubeconfigFor(t.Context(), harness.Namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.BearerToken == "" {
		t.Fatalf("%s has no token", path)
	}
	return cfg.BearerToken
}

// TestStrangersRead: a network neighbour (a pod of a tenant) and a cluster reader (an
// account that may list everything) ask the controller's ports for what they have: spend,
// names of pods, caps, decisions. Nobody gets anything who was not given it.
func TestStrangersRead(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	reader := tokenOf(t, "cluster-reader", `
- {apiGroups: ["", apps, karpenter.sh], resources: ["*"], verbs: [get, list, watch]}`)
	scraper := tokenOf(t, "scraper", `[]`)
	bind := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "attack-scraper"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "spokeshave-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: harness.Namespace, Name: "scraper"}},
	}
	user.Create(t, stack.Client, bind)
	t.Cleanup(func() {
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), bind); err != nil {
			t.Error(err)
		}
	})
	network, local := stack.NetworkURL(), stack.MetricsURL()
	for name, tc := range map[string]struct {
		story, url, host, token string
		code                    int // 0 for no answer, or 400 for a request that is no TLS
	}{
		"neighbour, metrics":    {"a pod scrapes the metrics", network + "/metrics", "", "", 401},
		"neighbour, forged":     {"with a token of its own making", network + "/metrics", "", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ.", 401},
		"neighbour, no TLS":     {"by HTTP, to read a token on the way", strings.Replace(network, "https", "http", 1) + "/metrics", "", scraper, 0},
		"neighbour, decisions":  {"what was decided is not on the network", network + "/decisions", "", scraper, 404},
		"neighbour, observed":   {"nor what was observed", network + "/observed", "", scraper, 404},
		"neighbour, profiles":   {"nor what is in memory", network + "/debug/pprof/heap", "", scraper, 404},
		"neighbour, other path": {"nor by another spelling", network + "/metrics/../decisions", "", "", 404},
		"reader, metrics":       {"whoever may list everything may not read the metrics", network + "/metrics", "", reader, 403},
		"site, rebound name":    {"a web page points its own name at a forwarded port", local + "/decisions", "evil.example", "", 403},
		"scraper":               {"who was given the metrics reads them", network + "/metrics", "", scraper, 200},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := get(t.Context(), tc.url, tc.host, tc.token)
			if code == http.StatusBadRequest {
				code = 0
			}
			if code != tc.code || strings.Contains(body, "spokeshave_") != (tc.code == http.StatusOK) {
				t.Errorf("%s: %d, want %d: %.200s", tc.story, code, tc.code, body)
			}
		})
	}
}

// TestLocalPortIsLocal: a network neighbour connects to the port of decisions at every
// address of the machine but the loopback one. Nothing listens there.
func TestLocalPortIsLocal(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	at, err := url.Parse(stack.MetricsURL())
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	if code, _ := get(t.Context(), at.String()+"/decisions", "", ""); code != http.StatusOK {
		t.Errorf("at the loopback address: %d", code)
	}
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.IsLoopback() || ip.IP.To4() == nil {
			continue
		}
		conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(t.Context(), "tcp", net.JoinHostPort(ip.IP.String(), at.Port()))
		if err == nil {
			t.Errorf("the local port answers at %s", ip.IP)
			_ = conn.Close()
		}
	}
}

// TestSlowReaders: a network neighbour opens hundreds of connections that never end their
// header, and somebody on the loopback address asks for decisions and reads nothing. The
// loop goes on: pods get nodes, and decisions are recorded.
func TestSlowReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	work(t, 0)
	for address, text := range map[string]string{
		stack.NetworkURL(): "\x16\x03\x01",
		stack.MetricsURL(): "GET /decisions HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.Host)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := fmt.Fprint(conn, text); err != nil {
				t.Fatal(err)
			}
		}
	}
	work(t, 2)
	work(t, 0)
}
