// Package configmap stores a record of the controller in a ConfigMap, compressed, so
// that the controller continues from it after a restart or a change of leader.
//
// Its callers decide what the records contain and when they are written.
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

// maxUnpacked is the largest size of an uncompressed record in bytes.
const maxUnpacked = 16 << 20

// maxPacked is the largest size of a compressed record in bytes. The API server accepts
// 1 MiB for a ConfigMap, which includes names and field managers.
const maxPacked = 900 << 10

// ErrTooLarge says that a record is too large for a ConfigMap.
var ErrTooLarge = errors.New("too large for a ConfigMap")

// ErrCorrupt says that a record exists but cannot be decompressed, or is larger than any
// that is written.
var ErrCorrupt = errors.New("spoilt")

// Store is one record: the only entry of a ConfigMap, in gzip.
type Store struct {
	Client    client.Client
	Live      client.Reader
	Namespace string
	// Name is the name of the ConfigMap, Key that of its entry.
	Name, Key string
	// Labels are set at each Replace.
	Labels map[string]string
}

// Read returns the record, nil when there is none, and its ConfigMap as the object of
// events. The error is ErrCorrupt or comes from the API server.
func (s *Store) Read(ctx context.Context) ([]byte, *corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	err := s.Live.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: s.Name}, cm)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("read ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	text, err := s.Text(cm)
	return text, cm, err
}

// Text returns the record of a ConfigMap that was read. The error is ErrCorrupt when there is none.
func (s *Store) Text(cm *corev1.ConfigMap) ([]byte, error) { return s.unpack(cm.BinaryData[s.Key]) }

// Write replaces the record. The error is ErrTooLarge when the record does not fit.
func (s *Store) Write(ctx context.Context, text []byte) error {
	packed, err := s.pack(text)
	if err != nil {
		return err
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		BinaryData: map[string][]byte{s.Key: packed},
	}
	err = s.Client.Update(ctx, cm)
	if apierrors.IsNotFound(err) {
		err = s.Client.Create(ctx, cm)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}

// Replace replaces the record if its ConfigMap is as it was: last, or absent when last
// is nil. A nil text leaves the record as it is. It returns the ConfigMap as the API
// server stored it. The error is ErrTooLarge when the record does not fit, and Conflict,
// NotFound or AlreadyExists of the API server when the ConfigMap has changed.
func (s *Store) Replace(ctx context.Context, last *corev1.ConfigMap, text []byte, annotations map[string]string) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}}
	if last != nil {
		cm = last.DeepCopy()
	}
	if text != nil {
		packed, err := s.pack(text)
		if err != nil {
			return nil, err
		}
		cm.BinaryData = map[string][]byte{s.Key: packed}
	}
	for key, value := range annotations {
		metav1.SetMetaDataAnnotation(&cm.ObjectMeta, key, value)
	}
	for key, value := range s.Labels {
		metav1.SetMetaDataLabel(&cm.ObjectMeta, key, value)
	}
	var err error
	if last == nil {
		err = s.Client.Create(ctx, cm)
	} else {
		err = s.Client.Update(ctx, cm)
	}
	if err != nil {
		return nil, fmt.Errorf("write ConfigMap %s/%s: %w", s.Namespace, s.Name, err)
	}
	return cm, nil
}

// unpack decompresses a record.
func (s *Store) unpack(packed []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w: %w", s.Key, ErrCorrupt, err)
	}
	text, err := io.ReadAll(io.LimitReader(zip, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w: %w", s.Key, ErrCorrupt, err)
	}
	if len(text) > maxUnpacked {
		return nil, fmt.Errorf("decompress %s: %w: more than %d bytes", s.Key, ErrCorrupt, maxUnpacked)
	}
	return text, nil
}

// pack compresses a record.
func (s *Store) pack(text []byte) ([]byte, error) {
	if len(text) > maxUnpacked {
		return nil, fmt.Errorf("write ConfigMap %s/%s: %d bytes: %w", s.Namespace, s.Name, len(text), ErrTooLarge)
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		return nil, fmt.Errorf("compress %s: %w", s.Key, err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compress %s: %w", s.Key, err)
	}
	if out.Len() > maxPacked {
		return nil, fmt.Errorf("write ConfigMap %s/%s: %d bytes in gzip: %w", s.Namespace, s.Name, out.Len(), ErrTooLarge)
	}
	return out.Bytes(), nil
}
