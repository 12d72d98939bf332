// Package configmap keeps a record of the controller's own in a ConfigMap, packed, so
// that a restart or another leader goes on where the last one was.
//
// Not here: what the records say, and when they are written.
package configmap

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxUnpacked is how large a record may be, unpacked.
const maxUnpacked = 16 << 20

// maxPacked is how large a record may be in its ConfigMap, of the 1 MiB that the API
// server takes: names and what manages fields need some of it.
const maxPacked = 900 << 10

// ErrTooLarge says that a record does not fit into a ConfigMap.
var ErrTooLarge = errors.New("too large for a ConfigMap")

// ErrCorrupt says that there is a record which cannot be unpacked.
var ErrCorrupt = errors.New("spoilt")

// Store is one record in one ConfigMap, as the only entry, in gzip.
type Store struct {
	Client    client.Client
	Live      client.Reader
	Namespace string
	// Name is the ConfigMap's, Key that of its entry.
	Name, Key string
}

// Read gives the record; nil when there is none. The ConfigMap is for events.
// An error is ErrSpoilt, or the API server's.
func (s *Store) Read(ctx context.Context) ([]byte, *corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	err := s.Live.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, cm)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(cm.BinaryData[s.Key]))
	if err != nil {
		return nil, cm, fmt.Errorf("decompress %s: %w: %w", s.Key, ErrCorrupt, err)
	}
	text, err := io.ReadAll(io.LimitReader(zip, maxUnpacked))
	if err != nil {
		return nil, cm, fmt.Errorf("decompress %s: %w: %w", s.Key, ErrCorrupt, err)
	}
	return text, cm, nil
}

// Write replaces the record; ErrTooLarge says that it has to be made smaller.
func (s *Store) Write(ctx context.Context, text []byte) error {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		return fmt.Errorf("compress %s: %w", s.Key, err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("compress %s: %w", s.Key, err)
	}
	if out.Len() > maxPacked {
		return fmt.Errorf("write ConfigMap %s/%s: %d bytes in gzip: %w", s.Namespace, s.Name, out.Len(), ErrTooLarge)
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		BinaryData: map[string][]byte{s.Key: out.Bytes()},
	}
	err := s.Client.Update(ctx, cm)
	if apierrors.IsNotFound(err) {
		err = s.Client.Create(ctx, cm)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}
