// Package remote is what `spokeshave policy` does with a cluster: it sends
// policies to it, waits until the controller has judged them, and reads what
// became of all of them.
//
// For `spokeshave explain` and `observe` it finds the replica that leads and
// forwards a port to it.
//
// It uses nothing of client-go but configuration, single resources and port
// forwarding, so that the command line stays small.
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

// fieldManager owns the fields of policies that were pushed.
const fieldManager = "spokeshave"

// Access says which cluster, as kubectl does.
type Access struct {
	// Kubeconfig is a file; empty for KUBECONFIG and the file in the home folder.
	Kubeconfig string
	// Context is one of its contexts; empty for the current one.
	Context string
}

func (a Access) load() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.Context})
}

// Namespace is that of the context, default where none is said or no kubeconfig
// can be read: nothing is asked of the cluster.
func Namespace(a Access) string {
	name, _, err := a.load().Namespace()
	if err != nil {
		return corev1.NamespaceDefault
	}
	return name
}

// Cluster is a cluster with a controller.
type Cluster struct {
	configMaps func(namespace string) corev1client.ConfigMapInterface
	// Home is the namespace of the controller.
	Home string
}

// Config is how to reach the cluster.
func Config(a Access) (*rest.Config, error) {
	cfg, err := a.load().ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: name a file with --kubeconfig or KUBECONFIG: %w", err)
	}
	cfg.QPS = -1 // a person's few requests need no rationing, and its error would hide a deadline's
	return cfg, nil
}

// Connect finds the cluster. It does not speak to it yet.
func Connect(a Access, home string) (*Cluster, error) {
	cfg, err := Config(a)
	if err != nil {
		return nil, err
	}
	client, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	return &Cluster{configMaps: client.ConfigMaps, Home: home}, nil
}

// Apply sends a policy by server-side apply; force takes over the fields that
// others have set. Nothing is kept of an earlier push that is not there now.
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

// ErrSilent says that no controller has judged a policy in time.
var ErrSilent = errors.New("no word of it from a controller")

const poll = 200 * time.Millisecond

// Await returns the status of a policy once the controller has judged these
// very contents.
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
			cm.Namespace, cm.Name, ErrSilent, within, c.Home, cm.Namespace)
	}
	return got, err
}

// List reads what became of every policy, by namespace and name. A cluster
// without a status has none.
func (c *Cluster) List(ctx context.Context) ([]policy.Status, error) {
	cm, err := c.configMaps(c.Home).Get(ctx, load.StatusName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []policy.Status{}, nil
	case err != nil:
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", c.Home, load.StatusName, err)
	}
	out := make([]policy.Status, 0, len(cm.Data))
	for key, text := range cm.Data {
		var s policy.Status
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("read %s in ConfigMap %s/%s: %w", key, c.Home, load.StatusName, err)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b policy.Status) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}
