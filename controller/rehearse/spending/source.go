package spending

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/remote"
)

// FromCluster reads the ledger, and the history of the months of the range, from the
// controller's namespace.
func FromCluster(ctx context.Context, a remote.Access, namespace string, r Range) (*Book, error) {
	cfg, err := remote.Config(a)
	if err != nil {
		return nil, err
	}
	client, err := corev1client.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	names := []string{spend.LedgerName}
	for i, month := range r.Months() {
		if i < 12 { // a month has the name of the one a year before
			names = append(names, spend.HistoryName(month))
		}
	}
	var all []corev1.ConfigMap
	for _, name := range names {
		cm, err := client.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, name, err)
		}
		all = append(all, *cm)
	}
	b, err := read(all)
	if errors.Is(err, ErrNothing) {
		return nil, fmt.Errorf("%w in namespace %s: is that the controller's (--controller-namespace)?", err, namespace)
	}
	return b, err
}

// FromFiles reads ConfigMaps from files, as kubectl get configmaps -o yaml or -o json writes
// them. Other objects are ignored.
func FromFiles(paths []string) (*Book, error) {
	var all []corev1.ConfigMap
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		found, err := decode(file)
		_ = file.Close() // it was only read
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all = append(all, found...)
	}
	b, err := read(all)
	if errors.Is(err, ErrNothing) {
		return nil, fmt.Errorf("%w in the files: they need the ConfigMaps spokeshave-ledger and spokeshave-spend-01 to -12 of the controller's namespace", err)
	}
	return b, err
}

// decode reads the ConfigMaps of a stream of objects and lists.
func decode(in io.Reader) ([]corev1.ConfigMap, error) {
	var out []corev1.ConfigMap
	for dec := yaml.NewYAMLOrJSONDecoder(in, 4096); ; {
		var object struct {
			corev1.ConfigMap

			Items []corev1.ConfigMap `json:"items"`
		}
		err := dec.Decode(&object)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("want ConfigMaps as YAML or JSON: %w", err)
		}
		out = append(append(out, object.ConfigMap), object.Items...)
	}
}
