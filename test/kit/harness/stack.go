package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/source"
)

// Names that everything here agrees on.
const (
	// Namespace is where the chart is installed and guardrail policies live.
	Namespace = "spokeshave"
	// ClusterName is what AWS knows the cluster as, unless Options.Cluster says otherwise.
	ClusterName = "spokeshave"
	// Region is where ec2sim pretends to be.
	Region = "us-west-2"
	// release is the name of the Helm release, and by it of the chart's objects.
	release = "spokeshave"
)

// Options of Start.
type Options struct {
	// Dir keeps the cluster's state and the logs; empty means a temporary
	// directory that Stop removes.
	Dir string
	// Detached leaves everything running when this process ends.
	Detached bool
	// BootDelay is how long EC2 takes to start an instance, how long that boots
	// before its node joins, and how long EC2 takes to end it. Zero means one
	// second.
	BootDelay time.Duration
	// WorkloadQPS is that of controlplane.Options.
	WorkloadQPS int
	// Cluster is the cluster's name in AWS; ClusterName when empty.
	Cluster string
	// Stopped leaves it to the caller to start the controller.
	Stopped bool
	// Bare leaves the chart and its custom resource definitions to the caller, too. It
	// implies Stopped.
	Bare bool
	// WithoutCA gives the controller a connection without a CA certificate. The certificate
	// is part of the drift hash of EC2NodeClasses: hashes that were written on a cluster
	// without one hold on this one.
	WithoutCA bool
	// Values are further values for the chart, as for helm --set.
	Values []string
	// Controller is the controller's program; empty for the one of this source tree, which
	// is built.
	Controller string
	// Chart is the folder of the chart, which has to fit the controller; empty for the one of
	// this source tree.
	Chart string
	// Log is told what happens; nil means nobody.
	Log io.Writer
}

// Stack is the running product.
//
// Size: one method for each thing that a test does with the running programs.
type Stack struct {
	Cluster *controlplane.Cluster
	// Client acts as the cluster's administrator.
	Client client.Client
	// EC2 is the SDK's client for ec2sim.
	EC2 *ec2.Client

	opts  Options
	root  string // of the source tree
	bins  binaries
	ports ports
	// controller is the process id of the controller, 0 when none runs.
	controller int
	// container is what the controller was last started as.
	container corev1.Container
	starts    int
}

// ports are those of our own programs, on loopback.
type ports struct {
	ec2, metrics, local, probes, page int
}

// Start builds and starts everything and returns when the controller leads, or, with
// Options.Stopped, when it could be started.
// The context bounds the start. What was started is stopped again on an error.
func Start(ctx context.Context, opts Options) (*Stack, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	if opts.BootDelay == 0 {
		opts.BootDelay = time.Second
	}
	if opts.Cluster == "" {
		opts.Cluster = ClusterName
	}
	root, err := source.Root()
	if err != nil {
		return nil, err
	}
	if opts.Chart == "" {
		opts.Chart = filepath.Join(root, "charts", "spokeshave")
	}
	s := &Stack{opts: opts, root: root}
	if err := s.start(ctx); err != nil {
		if s.Cluster != nil {
			err = errors.Join(err, s.Cluster.Stop())
		}
		return nil, err
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	done := controlplane.Step(ctx, s.opts.Log, "building the controller, ec2sim and the command line, the first time for minutes")
	var err error
	s.bins, err = buildProduct(ctx, s.root)
	done(err)
	if s.opts.Controller != "" {
		s.bins.controller = s.opts.Controller
	}
	if err != nil {
		return err
	}
	s.Cluster, err = controlplane.Start(ctx, controlplane.Options{
		Dir: s.opts.Dir, Full: true, Detached: s.opts.Detached, WorkloadQPS: s.opts.WorkloadQPS, Log: s.opts.Log,
	})
	if err != nil {
		return err
	}
	// Now that the control plane holds its own, which it chose in the same way.
	if s.ports, err = freePorts(); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	work, both := errgroup.WithContext(ctx)
	work.Go(func() error { return s.startEC2(both) })
	work.Go(func() error {
		if err := s.systemNodes(both); err != nil || s.opts.Bare {
			return err
		}
		return s.installChart(both)
	})
	if err := work.Wait(); err != nil {
		return err
	}
	if s.opts.Stopped || s.opts.Bare {
		return nil
	}
	return s.StartController(ctx)
}

// connect makes the clients.
func (s *Stack) connect(ctx context.Context) error {
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), karpv1.AddToScheme(scheme), awsv1.AddToScheme(scheme))
	if err != nil {
		return fmt.Errorf("build scheme: %w", err)
	}
	if s.Client, err = client.New(s.Cluster.Config(), client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	s.EC2, err = ec2Client(ctx, s.EC2URL())
	return err
}

// Stop ends everything.
func (s *Stack) Stop() error { return s.Cluster.Stop() }

// say writes progress; nobody's work depends on its being read.
func (s *Stack) say(format string, args ...any) { _, _ = fmt.Fprintf(s.opts.Log, format, args...) }
