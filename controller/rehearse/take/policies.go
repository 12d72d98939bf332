package take

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/load"
)

// policies returns the policies in the controller's namespace and in plugin namespaces:
// those that the user named, and those from which the controller, by its status, has
// read policies.
func policies(ctx context.Context, l *lister, cfg *Config) ([]*corev1.ConfigMap, error) {
	states, err := status(ctx, l, cfg.Namespace)
	if err != nil {
		return nil, err
	}
	namespaces := append([]string{cfg.Namespace}, cfg.Plugins...)
	rejected := map[load.Key]string{}
	for i := range states {
		s := &states[i]
		namespaces = append(namespaces, s.Namespace)
		if s.State == policy.StateRejected {
			rejected[load.Key{Namespace: s.Namespace, Name: s.Name}] = s.Reason
		}
	}
	slices.Sort(namespaces[1:])
	var out []*corev1.ConfigMap
	seen := map[string]bool{}
	for _, ns := range namespaces {
		if seen[ns] {
			continue
		}
		seen[ns] = true
		found, err := list[corev1.ConfigMap](ctx, l, "/api/v1/namespaces/"+ns+"/configmaps", karpv1.LabelPolicy+"=true", true)
		if err != nil {
			return nil, err
		}
		for _, cm := range found {
			// A policy in a plugin namespace may not set caps. The controller rejected
			// this one, but a simulation would apply it.
			if why, ok := rejected[load.Key{Namespace: ns, Name: cm.Name}]; ok && ns != cfg.Namespace {
				l.missed = append(l.missed, fmt.Sprintf("policy %s/%s is left out: the controller rejected it: %s", ns, cm.Name, why))
				continue
			}
			out = append(out, bare(cm))
		}
	}
	return out, nil
}

// status returns the controller's status of its policies. It is empty when there is
// none yet or it may not be read.
func status(ctx context.Context, l *lister, namespace string) ([]policy.Status, error) {
	path := "/api/v1/namespaces/" + namespace + "/configmaps/" + load.StatusName
	raw, err := l.client.Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx).Raw()
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		l.missed = append(l.missed, path+" is left out: policies of plugin namespaces are read only where --plugin-namespaces names them")
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	var cm corev1.ConfigMap
	if err := json.Unmarshal(raw, &cm); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	out := make([]policy.Status, 0, len(cm.Data))
	for key, text := range cm.Data {
		var s policy.Status
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", key, path, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// bare returns a policy with only the fields that its author wrote.
func bare(cm *corev1.ConfigMap) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data:       cm.Data, BinaryData: cm.BinaryData,
	}
}
