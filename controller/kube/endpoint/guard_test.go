package endpoint

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// reviewer answers reviews as an API server does: token "scraper" may get /metrics,
// token "reader" is known and may get nothing, any other is unknown. It counts reviews.
type reviewer struct {
	asked atomic.Int32
	down  atomic.Bool
}

func (a *reviewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked.Add(1)
	if a.down.Load() {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		in := authenticationv1.TokenReview{}
		_ = json.Unmarshal(body, &in)
		in.TypeMeta = metav1.TypeMeta{APIVersion: "authentication.k8s.io/v1", Kind: "TokenReview"}
		in.Status.Authenticated = in.Spec.Token == "scraper" || in.Spec.Token == "reader"
		in.Status.User.Username = in.Spec.Token
		_ = json.NewEncoder(w).Encode(in)
		return
	}
	in := authorizationv1.SubjectAccessReview{}
	_ = json.Unmarshal(body, &in)
	in.TypeMeta = metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SubjectAccessReview"}
	asked := in.Spec.NonResourceAttributes
	in.Status.Allowed = in.Spec.User == "scraper" && asked != nil && asked.Path == "/metrics" && asked.Verb == "get"
	_ = json.NewEncoder(w).Encode(in)
}

// guarded returns a guard of some contents that asks a reviewer, and moves its clock.
func guarded(t *testing.T) (http.Handler, *reviewer, func(time.Duration)) {
	t.Helper()
	api := &reviewer{}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	at := time.Unix(1_000, 0)
	guard, err := NewGuard(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	contents := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "contents") })
	return guard.Path("/metrics", contents), api, func(d time.Duration) { at = at.Add(d) }
}

func ask(t *testing.T, h http.Handler, method, header string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, "/anything", http.NoBody)
	if header != "" {
		r.Header.Set("Authorization", header)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestGuard(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, method, header string
		code, reviews          int
	}{
		"scraper":    {"whoever may get the URL reads it", http.MethodGet, "Bearer scraper", 200, 2},
		"reader":     {"being known is not enough", http.MethodGet, "Bearer reader", 403, 2},
		"unknown":    {"a token of somewhere else", http.MethodGet, "Bearer other", 401, 1},
		"nobody":     {"no token: the API server is not even asked", http.MethodGet, "", 401, 0},
		"basic":      {"another kind of credentials", http.MethodGet, "Basic c2NyYXBlcjo=", 401, 0},
		"empty":      {"an empty token", http.MethodGet, "Bearer ", 401, 0},
		"huge token": {"nothing that long is a token", http.MethodGet, "Bearer " + strings.Repeat("x", longestToken+1), 401, 0},
		"post":       {"nothing here can be written", http.MethodPost, "Bearer scraper", 405, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h, api, _ := guarded(t)
			code, body := ask(t, h, tc.method, tc.header)
			if code != tc.code || (body == "contents") != (code == 200) || int(api.asked.Load()) != tc.reviews {
				t.Errorf("%s: %d %q after %d reviews, want %d after %d", tc.reason, code, body, api.asked.Load(), tc.code, tc.reviews)
			}
		})
	}
}

// TestGuardRemembers: the API server is asked once a minute about whoever may read, and
// sooner about whoever may not, so that a grant takes effect.
func TestGuardRemembers(t *testing.T) {
	h, api, pass := guarded(t)
	for _, step := range []struct {
		token   string
		after   time.Duration
		reviews int32
	}{
		{"scraper", 0, 2},
		{"scraper", allowedFor - time.Second, 2},
		{"scraper", 2 * time.Second, 4},
		{"reader", 0, 6},
		{"reader", deniedFor - time.Second, 6},
		{"reader", 2 * time.Second, 8},
	} {
		pass(step.after)
		ask(t, h, http.MethodGet, "Bearer "+step.token)
		if got := api.asked.Load(); got != step.reviews {
			t.Fatalf("%s after %s: %d reviews, want %d", step.token, step.after, got, step.reviews)
		}
	}
}

// TestGuardFailsClosed: while the API server does not answer nobody reads, and the
// failure is not remembered.
func TestGuardFailsClosed(t *testing.T) {
	h, api, _ := guarded(t)
	api.down.Store(true)
	if code, _ := ask(t, h, http.MethodGet, "Bearer scraper"); code != http.StatusServiceUnavailable {
		t.Errorf("the API server is down: %d", code)
	}
	api.down.Store(false)
	if code, _ := ask(t, h, http.MethodGet, "Bearer scraper"); code != http.StatusOK {
		t.Errorf("the API server is back: %d", code)
	}
}

// TestGuardForgets: strangers cannot make it remember more than a bounded number of
// tokens.
func TestGuardForgets(t *testing.T) {
	g := &Guard{now: time.Now, known: map[question]answer{}}
	for i := range 3 * answersKept {
		g.keep(question{token: [32]byte{byte(i), byte(i >> 8)}}, http.StatusUnauthorized)
	}
	if n := len(g.known); n > answersKept {
		t.Errorf("%d answers kept", n)
	}
}
