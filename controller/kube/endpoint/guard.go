package endpoint

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// allowedFor and deniedFor are how long the API server's answer is believed.
	allowedFor = time.Minute
	deniedFor  = 10 * time.Second
	// answersKept is how many answers are kept; when there are more, all are forgotten.
	answersKept = 1_000
	// askTime is how long the API server may take, asksAtOnce how many requests wait for
	// it at the same time, and asksPerSecond, asksBurst what it is asked at most.
	askTime       = 10 * time.Second
	asksAtOnce    = 4
	asksPerSecond = 5
	asksBurst     = 10
	// longestToken is more than any token that the API server issues, in bytes.
	longestToken = 8 << 10
)

// Guard lets a request pass whose bearer token the API server knows (TokenReview), if
// its owner may get the path (SubjectAccessReview of a URL that is no resource). When
// the API server does not answer, nobody passes. Use NewGuard.
type Guard struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
	now    func() time.Time
	asking chan struct{}

	mu    sync.Mutex
	known map[question]answer
}

// question is who wants to get what: the hash of a token, and a path.
type question struct {
	token [sha256.Size]byte
	path  string
}

// answer is the HTTP status that follows: 200, 401 or 403.
type answer struct {
	status int
	until  time.Time
}

// NewGuard returns a guard that asks the API server of a configuration. It has a rate
// limit of its own, so that strangers cannot use up the controller's.
func NewGuard(cfg *rest.Config, now func() time.Time) (*Guard, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Burst, cfg.RateLimiter = asksPerSecond, asksBurst, nil
	tokens, err := authenticationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("guard what is served: %w", err)
	}
	access, err := authorizationclient.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("guard what is served: %w", err)
	}
	return &Guard{
		tokens: tokens.TokenReviews(), access: access.SubjectAccessReviews(), now: now,
		asking: make(chan struct{}, asksAtOnce), known: map[question]answer{},
	}, nil
}

// Path returns a handler that passes requests on for whoever may get a path, whatever the
// path of the request is.
func (g *Guard) Path(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !found || token == "" || len(token) > longestToken {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token of the cluster is needed", http.StatusUnauthorized)
			return
		}
		switch status := g.ask(r.Context(), token, path); status {
		case http.StatusOK:
			next.ServeHTTP(w, r)
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the API server does not know the token", status)
		case http.StatusForbidden:
			http.Error(w, "not allowed: get of the URL "+path, status)
		default:
			http.Error(w, "the API server does not say whether this is allowed", status)
		}
	})
}

// ask returns the status for a token and a path, 503 when the API server does not say.
func (g *Guard) ask(ctx context.Context, token, path string) int {
	q := question{sha256.Sum256([]byte(token)), path}
	g.mu.Lock()
	a, found := g.known[q]
	g.mu.Unlock()
	if found && g.now().Before(a.until) {
		return a.status
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	select {
	case g.asking <- struct{}{}:
		defer func() { <-g.asking }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable
	}
	status, err := g.review(ctx, token, path)
	if err != nil {
		ctrl.Log.WithName("endpoint").Error(err, "a reader is refused", "path", path)
		return http.StatusServiceUnavailable
	}
	g.keep(q, status)
	return status
}

func (g *Guard) keep(q question, status int) {
	long := deniedFor
	if status == http.StatusOK {
		long = allowedFor
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= answersKept {
		clear(g.known)
	}
	g.known[q] = answer{status, g.now().Add(long)}
}

// review asks the API server whose the token is, and whether they may get the path.
func (g *Guard) review(ctx context.Context, token, path string) (int, error) {
	who, err := g.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("ask whose a token is: %w", err)
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user, extra := &who.Status.User, map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	may, err := g.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("ask what %s may get: %w", user.Username, err)
	}
	if !may.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
