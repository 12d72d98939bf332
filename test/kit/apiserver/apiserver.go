// Package apiserver is a real API server with the product's own kinds, for tests of
// what reads and writes objects: no controller of Kubernetes runs beside it, no
// scheduler and no kubelet.
//
// Not here: the programs and how they start (test/kit/controlplane), and the whole
// product on them (test/kit/harness).
package apiserver

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"spokeshave.dev/controller/app"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/source"
)

// Server is an API server that serves NodePools, NodeClaims and EC2NodeClasses.
type Server struct {
	// Config is the administrator's; change it before a client or a manager is made.
	Config *rest.Config
	// Scheme knows the controller's kinds.
	Scheme *runtime.Scheme
}

// discardLogs discards what controller-runtime logs. Its SetLogger may not be called by
// several goroutines at once, and tests that run side by side each start a server.
var discardLogs = sync.OnceFunc(func() { ctrl.SetLogger(logr.Discard()) }) //nolint:gochecknoglobals // what it sets is global in controller-runtime

// Start starts a server that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	return On(t, controlplane.ForTest(t, false))
}

// On is the server of a control plane that runs, which gets to know the product's
// kinds.
func On(t testing.TB, cluster *controlplane.Cluster) *Server {
	t.Helper()
	discardLogs()
	s := &Server{Config: cluster.Config()}
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	if err := controlplane.InstallCRDs(t.Context(), s.Config, filepath.Join(root, "charts", "spokeshave", "files", "crds")); err != nil {
		t.Fatal(err)
	}
	if s.Scheme, err = app.Scheme(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Client reads and writes without a cache.
func (s *Server) Client(t testing.TB) client.Client {
	t.Helper()
	c, err := client.New(s.Config, client.Options{Scheme: s.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Manager is a manager that serves no metrics, and may run controllers that another
// one of the process runs as well. changes are made to its options.
func (s *Server) Manager(t testing.TB, changes ...func(*ctrl.Options)) ctrl.Manager {
	t.Helper()
	repeated := true
	options := ctrl.Options{
		Scheme: s.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &repeated},
	}
	for _, change := range changes {
		change(&options)
	}
	mgr, err := ctrl.NewManager(s.Config, options)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// Run starts a manager and returns when its caches are in step. It ends with the test,
// or with stop, which returns when it has ended.
func Run(t testing.TB, mgr manager.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	t.Cleanup(stop)
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal("caches did not sync")
	}
	return stop
}
