package attack

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/user"
)

// everything are the rights of somebody who may list every object.
const everything = `
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch]}`

// readerAttacks are made by an account that may list every object.
func readerAttacks() map[string]attack {
	const keeps = "what the controller knows"
	return map[string]attack{
		"reader/metrics": {
			story: "whoever may list every object scrapes the metrics", want: "403", keeps: keeps,
			run: asks("/metrics", http.StatusForbidden, func(t *testing.T) string {
				user.Create(t, stack.Client, user.Account(harness.Namespace, "cluster-reader", nil, user.Rules(t, everything))...)
				return mint(t, "cluster-reader", "")
			}),
		},
		"reader/page": {
			story: "whoever may list every object opens the page", want: "403", keeps: keeps,
			run: opens(http.StatusForbidden, func(t *testing.T) string {
				user.Create(t, stack.Client, user.Account(harness.Namespace, "cluster-reader", nil, user.Rules(t, everything))...)
				return mint(t, "cluster-reader", "")
			}),
		},
		"reader/forwards-a-port": {
			story: "whoever may list every object has the API server forward the port of decisions", want: "403, since that creates a port forward", keeps: keeps,
			run: readsByAPIServer(http.MethodPost, "portforward?ports=8083"),
		},
		"reader/proxies-to-a-pod": {
			story: "whoever may list objects, with the role view, asks the API server to pass a request on to the controller's pod", want: "403", keeps: keeps,
			run: readsByAPIServer(http.MethodGet, "proxy/metrics"),
		},
	}
}

// neighbourAttacks are made by a pod that reaches the controller's ports, or by a web page
// in the browser of somebody who has forwarded one.
func neighbourAttacks() map[string]attack {
	const keeps = "what the controller knows"
	scraper := func(t *testing.T) string { return scraperToken(t) }
	nobody := func(*testing.T) string { return "" }
	return map[string]attack{
		"neighbour/no-token": {story: "a pod scrapes the metrics", want: "401", keeps: keeps, run: asks("/metrics", http.StatusUnauthorized, nobody)},
		"neighbour/forged-token": {
			story: "a pod scrapes the metrics with a token without signature, of its own making", want: "401", keeps: keeps,
			run: asks("/metrics", http.StatusUnauthorized, func(*testing.T) string { return "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ." }),
		},
		"neighbour/token-for-others": {
			story: "a server to which Prometheus has shown a token, made for that server alone, shows it to the controller", want: "401: it is of another audience", keeps: keeps,
			run: asks("/metrics", http.StatusUnauthorized, func(t *testing.T) string { return audienceToken(t, "vault") }),
		},
		"neighbour/token-of-the-gone": {
			story: "a pod scrapes with the token of a ServiceAccount that was deleted since", want: "401", keeps: keeps,
			run: asks("/metrics", http.StatusUnauthorized, goneToken),
		},
		"neighbour/page":            {story: "a pod opens the page", want: "401", keeps: keeps, run: opens(http.StatusUnauthorized, nobody)},
		"neighbour/page-as-scraper": {story: "who may scrape metrics opens the page", want: "403", keeps: keeps, run: opens(http.StatusForbidden, scraper)},
		"neighbour/decisions":       {story: "who may scrape metrics asks for decisions on the same port", want: "404", keeps: keeps, run: asks("/decisions", http.StatusNotFound, scraper)},
		"neighbour/observed":        {story: "who may scrape metrics asks for what was observed", want: "404", keeps: keeps, run: asks("/observed", http.StatusNotFound, scraper)},
		"neighbour/profiles":        {story: "who may scrape metrics asks for the heap", want: "404", keeps: keeps, run: asks("/debug/pprof/heap", http.StatusNotFound, scraper)},
		"neighbour/other-spelling":  {story: "a pod spells the path of decisions so that it passes for that of metrics", want: "404", keeps: keeps, run: asks("/metrics/../decisions", http.StatusNotFound, nobody)},
		"neighbour/plain-http": {
			story: "somebody has a scraper use HTTP, to read its token on the way", want: "no answer over HTTP", keeps: "tokens",
			run: func(t *testing.T) {
				code, body := get(t.Context(), strings.Replace(stack.NetworkURL(), "https", "http", 1)+"/metrics", "", scraperToken(t))
				if code != 0 && code != http.StatusBadRequest || strings.Contains(body, "spokeshave_") {
					t.Errorf("%d: %.200s", code, body)
				}
			},
		},
		"neighbour/rebound-name": {
			story: "a web page points the name of its own site at a forwarded port of decisions", want: "403", keeps: keeps,
			run: func(t *testing.T) {
				if code, body := get(t.Context(), stack.MetricsURL()+"/decisions", "evil.example", ""); code != http.StatusForbidden {
					t.Errorf("%d: %.200s", code, body)
				}
			},
		},
		"neighbour/local-port": {story: "a pod connects to the port of decisions at the machine's addresses", want: "nothing listens but at the loopback address", keeps: keeps, run: localPort},
	}
}

// asks gets a path of the network port with a token, and wants a status and no metrics.
// That who was given the metrics reads them shows that the port works.
func asks(path string, want int, token func(*testing.T) string) func(*testing.T) {
	return func(t *testing.T) {
		if code, body := get(t.Context(), stack.NetworkURL()+"/metrics", "", scraperToken(t)); code != http.StatusOK || !strings.Contains(body, "spokeshave_") {
			t.Fatalf("who was given the metrics reads %d: %.200s", code, body)
		}
		code, body := get(t.Context(), stack.NetworkURL()+path, "", token(t))
		if code != want || strings.Contains(body, "spokeshave_") {
			t.Errorf("%d, want %d: %.200s", code, want, body)
		}
	}
}

// opens gets the page and what is under it with a token, and wants a status. That who was
// given the page reads it shows that it is there.
func opens(want int, token func(*testing.T) string) func(*testing.T) {
	return func(t *testing.T) {
		const shown = "<title>"
		user.Create(t, stack.Client, append(user.Account(harness.Namespace, "page-reader", nil, nil), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "attack-page-reader"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "spokeshave-page-reader"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: harness.Namespace, Name: "page-reader"}},
		})...)
		if code, body := get(t.Context(), stack.PageURL()+"/", "", mint(t, "page-reader", "")); code != http.StatusOK || !strings.Contains(body, shown) {
			t.Fatalf("who was given the page reads %d: %.200s", code, body)
		}
		for _, path := range []string{"/", "/contents", "/decisions", "/spokeshave/page", "/metrics"} {
			code, body := get(t.Context(), stack.PageURL()+path, "", token(t))
			if code != want || strings.Contains(body, shown) {
				t.Errorf("%s: %d, want %d: %.200s", path, code, want, body)
			}
		}
	}
}

// scraperToken returns the token of an account that may read the metrics.
func scraperToken(t *testing.T) string {
	t.Helper()
	bind := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "attack-scraper"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "spokeshave-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: harness.Namespace, Name: "scraper"}},
	}
	user.Create(t, stack.Client, append(user.Account(harness.Namespace, "scraper", nil, nil), bind)...)
	return audienceToken(t, "")
}

// audienceToken returns a token of the account that may read the metrics, for an audience, ""
// for the API server.
func audienceToken(t *testing.T, audience string) string {
	t.Helper()
	return mint(t, "scraper", audience)
}

func mint(t *testing.T, account, audience string) string {
	t.Helper()
	clients, err := kubernetes.NewForConfig(stack.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	request := &authenticationv1.TokenRequest{}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	token, err := clients.CoreV1().ServiceAccounts(harness.Namespace).CreateToken(t.Context(), account, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

// goneToken returns the token of an account that may read the metrics, and is deleted.
func goneToken(t *testing.T) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "gone"}}
	user.Create(t, stack.Client, account)
	token := mint(t, "gone", "")
	if err := stack.Client.Delete(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return token
}

// readsByAPIServer asks the API server for a subresource of a controller's pod, as somebody
// who has the role view everywhere.
func readsByAPIServer(method, subresource string) func(*testing.T) {
	return func(t *testing.T) {
		bind := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "attack-viewer"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: harness.Namespace, Name: "viewer"}},
		}
		user.Create(t, stack.Client, append(user.Account(harness.Namespace, "viewer", nil, nil), bind)...)
		pods, err := stack.Pods(t.Context(), harness.Namespace, nil)
		if err != nil || len(pods) == 0 {
			t.Fatalf("the controller's pods: %d, %v", len(pods), err)
		}
		at := stack.Cluster.ServerURL + "/api/v1/namespaces/" + harness.Namespace + "/pods"
		if code, body := call(t.Context(), http.MethodGet, at, mint(t, "viewer", "")); code != http.StatusOK {
			t.Fatalf("the viewer lists pods: %d: %.200s", code, body)
		}
		if code, body := call(t.Context(), method, at+"/"+pods[0].Name+"/"+subresource, mint(t, "viewer", "")); code != http.StatusForbidden {
			t.Errorf("%d, want 403: %.200s", code, body)
		}
	}
}

func localPort(t *testing.T) {
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

// call makes a request as somebody who trusts any certificate.
func call(ctx context.Context, method, where, token string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, method, where, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return do(req)
}
