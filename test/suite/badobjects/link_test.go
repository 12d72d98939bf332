package badobjects

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// errLink is what a write of a NodeClaim returns whose connection breaks.
var errLink = errors.New("the connection to the API server was lost")

// link is the way between the decision loop and the API server.
type link struct {
	// unsent and unanswered are how many of the next writes of NodeClaims get lost before the API server has
	// them, and how many after.
	unsent, unanswered atomic.Int32
	// watches of NodeClaims show nothing while it is locked.
	watches sync.RWMutex
}

// options makes a manager's client use the link.
func (l *link) options(o *ctrl.Options) {
	o.NewClient = func(cfg *rest.Config, opts client.Options) (client.Client, error) {
		c, err := client.NewWithWatch(cfg, opts)
		if err != nil {
			return nil, err
		}
		return interceptor.NewClient(c, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return l.write(o, func() error { return c.Create(ctx, o, opts...) })
			},
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				return l.write(o, func() error { return c.Patch(ctx, o, p, opts...) })
			},
		}), nil
	}
}

func (l *link) write(o client.Object, do func() error) error {
	if _, ok := o.(*karpv1.NodeClaim); !ok {
		return do()
	}
	if l.unsent.Add(-1) >= 0 {
		return errLink
	}
	if err := do(); err != nil || l.unanswered.Add(-1) < 0 {
		return err
	}
	return errLink
}

// wrap makes the watches of a connection wait for the link.
func (l *link) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(req)
		if err == nil && strings.HasSuffix(req.URL.Path, "/nodeclaims") && req.URL.Query().Has("watch") {
			answer.Body = &watched{ReadCloser: answer.Body, link: l}
		}
		return answer, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// watched is what a watch shows.
type watched struct {
	io.ReadCloser

	link *link
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.link.watches.RLock()
	defer w.link.watches.RUnlock()
	return n, err
}
