package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/test/kit/controlplane"
)

// EC2URL is ec2sim's address.
func (s *Stack) EC2URL() string { return loopback(s.ports.ec2) }

// MetricsURL is the address of the controller's metrics and decisions on the loopback
// address, where nobody is asked who they are.
func (s *Stack) MetricsURL() string { return loopback(s.ports.local) }

// NetworkURL is the address of the controller's metrics on the network: HTTPS, for those
// whom the API server allows them.
func (s *Stack) NetworkURL() string { return "https://127.0.0.1:" + strconv.Itoa(s.ports.metrics) }

// PageURL is the address of the page, where the chart has it behind a Service: HTTPS, for
// those whom the API server allows it.
func (s *Stack) PageURL() string { return "https://127.0.0.1:" + strconv.Itoa(s.ports.page) }

func loopback(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// startEC2 starts ec2sim with its joiner.
func (s *Stack) startEC2(ctx context.Context) error {
	_, err := s.Cluster.Run(controlplane.Program{
		Name: "ec2sim", Path: s.bins.ec2sim,
		Args: []string{
			"--listen=127.0.0.1:" + strconv.Itoa(s.ports.ec2), "--region=" + Region, "--cluster-name=" + s.opts.Cluster,
			"--joiner", "--kubeconfig=" + s.Cluster.Kubeconfig, "--boot-delay=" + s.opts.BootDelay.String(),
			"--pending-delay=" + s.opts.BootDelay.String(), "--shutdown-delay=" + s.opts.BootDelay.String(),
		},
	})
	if err != nil {
		return err
	}
	return s.Until(ctx, "ec2sim to answer", 20*time.Second, func(ctx context.Context) (string, bool) {
		if _, err := s.Instances(ctx); err != nil {
			return err.Error(), false
		}
		return "", true
	})
}

// StartController starts the controller as the chart's Deployment would, with
// further flags added, and returns when it leads, or, with --mode=Observe among
// the flags, when it is ready.
func (s *Stack) StartController(ctx context.Context, flags ...string) error {
	if err := s.LaunchController(ctx, flags...); err != nil {
		return err
	}
	start := now()
	if err := s.Until(ctx, "the controller to lead", 60*time.Second, s.Leads); err != nil {
		return err
	}
	s.say("controller leads as ServiceAccount %s/%s …  %s\n", Namespace, release, since(start))
	return nil
}

// LaunchController starts the controller and returns at once.
func (s *Stack) LaunchController(ctx context.Context, flags ...string) error {
	if s.controller != 0 {
		return errors.New("start the controller: one runs already")
	}
	container, account, err := s.deployed(ctx)
	if err != nil {
		return err
	}
	kubeconfig, err := s.Cluster.KubeconfigFor(ctx, Namespace, account)
	if err != nil {
		return err
	}
	if s.opts.WithoutCA {
		if err := withoutCA(kubeconfig); err != nil {
			return err
		}
	}
	args := append([]string{"--kubeconfig=" + kubeconfig}, container.Args...)
	args = append(args, "--metrics-port="+strconv.Itoa(s.ports.metrics), "--local-port="+strconv.Itoa(s.ports.local), "--health-probe-port="+strconv.Itoa(s.ports.probes))
	if at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "--web-address=") }); at >= 0 {
		host, _, _ := net.SplitHostPort(strings.TrimPrefix(args[at], "--web-address="))
		args = append(args, "--web-address="+net.JoinHostPort(host, strconv.Itoa(s.ports.page)))
	}
	args = append(args, flags...)
	// The SDK insists on credentials; ec2sim takes any.
	env := []string{"AWS_ACCESS_KEY_ID=demo", "AWS_SECRET_ACCESS_KEY=demo", "AWS_EC2_METADATA_DISABLED=true"}
	for _, e := range container.Env {
		if e.ValueFrom == nil {
			env = append(env, e.Name+"="+e.Value)
		}
	}
	s.starts++
	s.container = container
	s.controller, err = s.Cluster.Run(controlplane.Program{Name: s.controllerName(), Path: s.bins.controller, Args: args, Env: env})
	return err
}

// controllerName is the name of the latest controller: each start has a log of
// its own.
func (s *Stack) controllerName() string {
	if s.starts == 1 {
		return "controller"
	}
	return "controller-" + strconv.Itoa(s.starts)
}

// StopController ends the controller, gently or at once, and returns when it
// is gone.
func (s *Stack) StopController(ctx context.Context, sig syscall.Signal) error {
	if s.controller == 0 {
		return nil
	}
	if err := syscall.Kill(s.controller, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the controller: %w", err)
	}
	err := s.Until(ctx, "the controller to end", 30*time.Second, func(context.Context) (string, bool) {
		return "it runs", errors.Is(syscall.Kill(s.controller, 0), syscall.ESRCH)
	})
	s.controller = 0
	return err
}

// Leads says whether the controller's process holds its own lease.
func (s *Stack) Leads(ctx context.Context) (string, bool) {
	if s.controller != 0 && errors.Is(syscall.Kill(s.controller, 0), syscall.ESRCH) {
		return "the controller has ended", false
	}
	lease := &coordinationv1.Lease{}
	if err := s.Client.Get(ctx, types.NamespacedName{Namespace: Namespace, Name: "spokeshave-leader-election"}, lease); err != nil {
		return err.Error(), false
	}
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	return "the lease is held by " + strconv.Quote(holder), endsWithPID(holder, s.controller) && s.ready(ctx)
}

// endsWithPID says whether a holder's identity names the process.
func endsWithPID(identity string, pid int) bool {
	suffix := "_" + strconv.Itoa(pid)
	return len(identity) > len(suffix) && identity[len(identity)-len(suffix):] == suffix
}

func (s *Stack) ready(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, loopback(s.ports.probes)+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// FreezeController stops the controller's process without ending it, as a machine does that
// hangs, so that another controller can be started, on ports of its own. What is returned
// lets the frozen one go on, and ends it.
func (s *Stack) FreezeController() (thaw func() error, end func(context.Context) error, err error) {
	pid := s.controller
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, nil, fmt.Errorf("freeze the controller: %w", err)
	}
	own, err := freePorts()
	if err != nil {
		return nil, nil, err
	}
	own.ec2 = s.ports.ec2
	s.controller, s.ports = 0, own
	thaw = func() error { return syscall.Kill(pid, syscall.SIGCONT) }
	end = func(ctx context.Context) error {
		return errors.Join(thaw(), s.ended(ctx, pid))
	}
	return thaw, end, nil
}

// ended waits until a process has ended by itself.
func (s *Stack) ended(ctx context.Context, pid int) error {
	return s.Until(ctx, "the frozen controller to end", 90*time.Second, func(context.Context) (string, bool) {
		return "it runs", errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
}
