// Package remote implements what `spokeshave policy` does with a cluster: it sends
// policies to it, waits until the controller has accepted or rejected them, and reads
// the status of all policies.
//
// For `spokeshave explain` and `observe` it finds the leading replica and forwards a
// port to it.
//
// Of client-go it uses only configuration, single resources and port forwarding, so
// that the command line's binary stays small.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
)

// fieldManager is the field manager of policies that were pushed with server-side
// apply.
const fieldManager = "spokeshave"

// Access selects a cluster in the way kubectl does.
type Access struct {
	// Kubeconfig is a file. When empty, KUBECONFIG is used, or else the file in the
	// home folder.
	Kubeconfig string
	// Context is one of its contexts. When empty, the current one is used.
	Context string
}

func (a Access) load() clientcmd.ClientConfig {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(a.rules(), &clientcmd.ConfigOverrides{CurrentContext: a.Context})
}

// rules say which files are read.
func (a Access) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	return rules
}

// Namespace returns the namespace of the context. It is "default" when the context
// names none or no kubeconfig can be read. It sends no request to the cluster.
func Namespace(a Access) string {
	name, _, err := a.load().Namespace()
	if err != nil {
		return corev1.NamespaceDefault
	}
	return name
}

// Cluster gives access to the policies of a cluster with a controller.
type Cluster struct {
	configMaps func(namespace string) corev1client.ConfigMapInterface
	// ControllerNamespace is the namespace of the controller.
	ControllerNamespace string
}

// Config returns the client configuration for the cluster.
func Config(a Access) (*rest.Config, error) {
	cfg, err := a.load().ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("find the cluster: no kubeconfig in %s: name one with --kubeconfig or KUBECONFIG", strings.Join(a.rules().GetLoadingPrecedence(), ", "))
	case err != nil:
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	cfg.QPS = -1 // no client-side rate limit: there are few requests, and its error would hide that a deadline passed
	return cfg, nil
}

// Connect returns access to the cluster whose controller is in the namespace. It sends
// no request yet.
func Connect(a Access, controllerNamespace string) (*Cluster, error) {
	cfg, err := Config(a)
	if err != nil {
		return nil, err
	}
	client, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	return &Cluster{configMaps: client.ConfigMaps, ControllerNamespace: controllerNamespace}, nil
}

// Apply writes a policy's ConfigMap by server-side apply. force takes over fields that
// other managers own. Fields of an earlier push that are missing now are removed.
func (c *Cluster) Apply(ctx context.Context, cm *corev1.ConfigMap, force *bool) error {
	cm = cm.DeepCopy()
	cm.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	body, err := json.Marshal(cm)
	if err != nil {
		return fmt.Errorf("encode policy %s: %w", cm.Name, err)
	}
	_, err = c.configMaps(cm.Namespace).Patch(ctx, cm.Name, types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: fieldManager, Force: force})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("push policy %s/%s: something else has set it; --force-conflicts takes it over: %w", cm.Namespace, cm.Name, err)
	case err != nil:
		return fmt.Errorf("push policy %s/%s: %w", cm.Namespace, cm.Name, err)
	}
	return nil
}

// ErrSilent says that no controller has accepted or rejected a policy in time.
var ErrSilent = errors.New("no word of it from a controller")

const poll = 200 * time.Millisecond

// Await returns the status of a policy once the controller has accepted or rejected
// exactly these contents. It returns ErrSilent after within.
func (c *Cluster) Await(ctx context.Context, cm *corev1.ConfigMap, within time.Duration) (policy.Status, error) {
	want := load.Hash(cm)
	var got policy.Status
	err := wait.PollUntilContextTimeout(ctx, poll, within, true, func(ctx context.Context) (bool, error) {
		all, err := c.List(ctx)
		if err != nil {
			return false, err
		}
		i := slices.IndexFunc(all, func(s policy.Status) bool { return s.Namespace == cm.Namespace && s.Name == cm.Name })
		if i < 0 {
			return false, nil
		}
		got = all[i]
		return got.Revision == want, nil
	})
	if wait.Interrupted(err) {
		return got, fmt.Errorf("wait for policy %s/%s: %w after %s: does one run in namespace %s, and does it watch namespace %s?",
			cm.Namespace, cm.Name, ErrSilent, within, c.ControllerNamespace, cm.Namespace)
	}
	return got, err
}

// List returns the status of every policy, sorted by namespace and name. It is empty in
// a cluster without a status ConfigMap.
func (c *Cluster) List(ctx context.Context) ([]policy.Status, error) {
	cm, err := c.configMaps(c.ControllerNamespace).Get(ctx, load.StatusName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []policy.Status{}, nil
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", c.ControllerNamespace, load.StatusName, err)
	}
	out := make([]policy.Status, 0, len(cm.Data))
	for key, text := range cm.Data {
		var s policy.Status
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("read %s in ConfigMap %s/%s: %w", key, c.ControllerNamespace, load.StatusName, err)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b policy.Status) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}
