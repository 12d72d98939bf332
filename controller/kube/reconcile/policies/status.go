package policies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/policy/load"
)

// StatusName is the ConfigMap in the controller's namespace with the status of each
// policy. It has one key per policy, namespace.name, so that the output of `kubectl get
// configmap -o yaml` is readable.
const StatusName = load.StatusName

// refusedRetry is after how long a write is repeated that the API server refuses for good.
const refusedRetry = time.Minute

// StatusWriter updates the status object. It runs on the leader only.
type StatusWriter struct {
	Client    client.Client
	Loader    *load.Loader
	Namespace string
	Clock     clock.WithTicker
	Every     time.Duration

	written string
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (w *StatusWriter) NeedLeaderElection() bool { return true }

// Start runs until the context ends.
func (w *StatusWriter) Start(ctx context.Context) error {
	for {
		pause := w.Every
		err := w.Write(ctx)
		switch {
		case configmap.Refused(err): // package configmap tells
			pause = max(w.Every, refusedRetry)
		case err != nil && ctx.Err() == nil:
			logr.FromContextOrDiscard(ctx).Error(err, "policy status is put off")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.Clock.After(pause):
		}
	}
}

// statusKey returns namespace.name. Kubernetes limits a key to 253 characters: a longer
// one is cut and gets a hash as its suffix.
func statusKey(namespace, name string) string {
	const most = 253
	key := namespace + "." + name
	if len(key) <= most {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	tail := "-" + hex.EncodeToString(sum[:8])
	return key[:most-len(tail)] + tail
}

// Write writes the status when it differs from what was written last.
func (w *StatusWriter) Write(ctx context.Context) error {
	data := map[string]string{}
	for _, s := range w.Loader.Status() {
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return fmt.Errorf("encode status of policy %s/%s: %w", s.Namespace, s.Name, err)
		}
		data[statusKey(s.Namespace, s.Name)] = string(text)
	}
	all, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode policy status: %w", err)
	}
	if string(all) == w.written {
		return nil
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: StatusName}, Data: data}
	err = w.Client.Update(ctx, cm)
	if apierrors.IsNotFound(err) {
		err = w.Client.Create(ctx, cm)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", w.Namespace, StatusName, err)
	}
	w.written = string(all)
	return nil
}
