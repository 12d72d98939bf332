package remote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// portLocal is the name of the container port on which the controller serves the journal,
// on the pod's loopback address; portDefault is its number where no port has the name.
const (
	portLocal   = "http-local"
	portDefault = 8083
)

// Leader names the lease by which the leading replica is found.
type Leader struct {
	// Namespace is the controller's; Lease is the name of its lease there.
	Namespace, Lease string
}

// Forward opens a port on 127.0.0.1 that forwards to the local port of the leading
// replica, with the user's own permissions. It returns the URL, http://127.0.0.1:port.
// The port is closed when the context ends.
func Forward(ctx context.Context, a Access, leader Leader) (string, error) {
	cfg, err := Config(a)
	if err != nil {
		return "", err
	}
	pods, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return "", fmt.Errorf("find the cluster: %w", err)
	}
	pod, port, err := find(ctx, cfg, pods, leader)
	if err != nil {
		return "", err
	}
	where := pods.RESTClient().Post().Resource("pods").Namespace(leader.Namespace).Name(pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(cfg)
	if err != nil {
		return "", fmt.Errorf("forward to pod %s: %w", pod, err)
	}
	old := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, where)
	socket, err := portforward.NewSPDYOverWebsocketDialer(where, cfg)
	if err != nil {
		return "", fmt.Errorf("forward to pod %s: %w", pod, err)
	}
	dialer := portforward.NewFallbackDialer(socket, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	ready, failed := make(chan struct{}), make(chan error, 1)
	forward, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ctx.Done(), ready, io.Discard, io.Discard)
	if err != nil {
		return "", fmt.Errorf("forward to pod %s: %w", pod, err)
	}
	go func() { failed <- forward.ForwardPorts() }()
	select {
	case err := <-failed:
		return "", fmt.Errorf("forward to pod %s/%s: %w", leader.Namespace, pod, err)
	case <-ready:
	}
	local, err := forward.GetPorts()
	if err != nil {
		return "", fmt.Errorf("forward to pod %s: %w", pod, err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", local[0].Local), nil
}

// find returns the pod of the leading replica, from the lease, and its local port.
func find(ctx context.Context, cfg *rest.Config, pods *corev1client.CoreV1Client, leader Leader) (string, int32, error) {
	leases, err := coordinationclient.NewForConfig(cfg)
	if err != nil {
		return "", 0, fmt.Errorf("find the cluster: %w", err)
	}
	lease, err := leases.Leases(leader.Namespace).Get(ctx, leader.Lease, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", 0, fmt.Errorf("find the leader: no lease %s/%s: is that the controller's namespace?", leader.Namespace, leader.Lease)
	case err != nil:
		return "", 0, fmt.Errorf("find the leader: %w", err)
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "":
		return "", 0, fmt.Errorf("find the leader: nobody holds lease %s/%s: no controller runs", leader.Namespace, leader.Lease)
	}
	name := *lease.Spec.HolderIdentity // "<pod name>_<process id>"
	if at := strings.LastIndex(name, "_"); at > 0 {
		name = name[:at]
	}
	pod, err := pods.Pods(leader.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", 0, fmt.Errorf("find the leader %s: it may run outside the cluster; use --server: %w", name, err)
	}
	return name, localPort(pod), nil
}

func localPort(pod *corev1.Pod) int32 {
	for i := range pod.Spec.Containers {
		for _, p := range pod.Spec.Containers[i].Ports {
			if p.Name == portLocal {
				return p.ContainerPort
			}
		}
	}
	return portDefault
}
