package controlplane

import (
	"embed"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// NodeLabel, with the value [NodeLabelValue], marks the nodes that KWOK plays
// the kubelet for. Whoever creates the Node sets it.
const (
	NodeLabel      = "spokeshave.dev/kwok"
	NodeLabelValue = "true"
)

// Annotations that ask KWOK for something out of the ordinary.
const (
	// BrokenAnnotation on a Node, with any value, makes KWOK leave the node's
	// conditions alone, so that a test can write Ready=False itself.
	BrokenAnnotation = "spokeshave.dev/broken"
	// StopAnnotation on a Pod, with the value "deadline", makes the pod live
	// until its grace period has run out instead of stopping at once.
	StopAnnotation = "spokeshave.dev/stop"
	// RunForAnnotation on a Job's Pod is the duration, such as "90s", after
	// which the pod succeeds; without it, one second.
	RunForAnnotation = "spokeshave.dev/run-for"
)

//go:embed stages/*.yaml
var stages embed.FS

// component is one program of the cluster and its command line.
type component struct {
	name string
	path string
	args []string
	env  []string // beyond the bare environment
	// beside is set for a program of Cluster.Run, which may end while the cluster runs.
	beside bool
}

// layout knows every path and address of one cluster.
type layout struct {
	dir   string
	ports Ports
	bins  Binaries
	pki   pki
	// workloadQPS is that of [Options].
	workloadQPS int
}

func (l layout) logFile(name string) string { return filepath.Join(l.dir, "logs", name+".log") }

func (l layout) serverURL() string { return "https://" + loopback(l.ports.APIServer) }

func (l layout) kubeconfig(user string) string {
	name := map[string]string{controllerUser: "kube-controller-manager", schedulerUser: "kube-scheduler"}[user]
	if name == "" {
		name = user
	}
	return filepath.Join(l.dir, "kubeconfig", name+".yaml")
}

func (l layout) etcd() component {
	client, peer := "http://"+loopback(l.ports.Etcd), "http://"+loopback(l.ports.EtcdPeer)
	return component{name: "etcd", path: l.bins.Etcd, args: []string{
		"--name=default",
		"--data-dir=" + filepath.Join(l.dir, "etcd"),
		"--unsafe-no-fsync", // the data of a test cluster need not survive a power cut
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--log-level=warn",
	}}
}

func (l layout) apiServer() component {
	return component{name: "kube-apiserver", path: l.bins.KubeAPIServer, args: []string{
		"--etcd-servers=http://" + loopback(l.ports.Etcd),
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(l.ports.APIServer),
		"--endpoint-reconciler-type=none", // loopback is no valid endpoint address
		"--tls-cert-file=" + l.pki.certFile(), "--tls-private-key-file=" + l.pki.keyFile(),
		"--cert-dir=" + l.pki.dir,
		"--token-auth-file=" + l.pki.tokensFile(),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + l.pki.saKeyFile(),
		"--service-account-signing-key-file=" + l.pki.saKeyFile(),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		// Pods are never run by a real kubelet, so they need no token volume, and
		// without a controller manager (Full false) no ServiceAccount would exist.
		"--disable-admission-plugins=ServiceAccount",
	}}
}

func (l layout) controllerManager() component {
	return component{name: "kube-controller-manager", path: l.bins.KubeControllerManager, args: []string{
		"--kubeconfig=" + l.kubeconfig(controllerUser),
		"--service-account-private-key-file=" + l.pki.saKeyFile(),
		"--root-ca-file=" + l.pki.caFile(),
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--secure-port=0", // several clusters may run at once
		"--kube-api-qps=" + strconv.Itoa(l.workloadQPS), "--kube-api-burst=" + strconv.Itoa(l.workloadQPS*3/2),
	}}
}

func (l layout) scheduler() component {
	return component{name: "kube-scheduler", path: l.bins.KubeScheduler, args: []string{
		"--kubeconfig=" + l.kubeconfig(schedulerUser),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=300", "--kube-api-burst=600",
	}}
}

func (l layout) kwok() component {
	return component{name: "kwok", path: l.bins.Kwok, args: []string{
		"--kubeconfig=" + l.kubeconfig(kwokUser),
		"--config=" + filepath.Join(l.dir, "stages.yaml"),
		"--manage-nodes-with-label-selector=" + NodeLabel + "=" + NodeLabelValue,
		"--node-lease-duration-seconds=40",
		"--node-ip=10.0.0.1",
		"--cidr=10.128.0.0/12",
	}}
}

// writeStages writes the node and pod life cycles for KWOK as one file.
func (l layout) writeStages() error {
	files, err := fs.Glob(stages, "stages/*.yaml")
	if err != nil {
		return err
	}
	var all []byte
	for _, file := range files {
		data, err := stages.ReadFile(file)
		if err != nil {
			return err
		}
		all = append(append(all, "---\n"...), data...)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "stages.yaml"), all, 0o600); err != nil {
		return fmt.Errorf("write node and pod stages: %w", err)
	}
	return nil
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
