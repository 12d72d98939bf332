package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Annotations by which cosign tells bundles apart, and the config of an artifact without one.
const (
	bundleContent                   = "dev.sigstore.bundle.content"
	bundlePredicate                 = "dev.sigstore.bundle.predicateType"
	emptyConfig     types.MediaType = "application/vnd.oci.empty.v1+json"
)

// artifact is a file of some type that says which image it belongs to; partial adds the
// rest of v1.Image.
type artifact struct {
	manifest []byte
	content  v1.Layer
}

// Bundle is a Sigstore bundle with a statement about an image, as cosign attaches it: an
// artifact that refers to the image (OCI 1.1).
func Bundle(bundle []byte, mediaType, predicateType string, subject v1.Descriptor) (v1.Image, error) {
	a := &artifact{content: static.NewLayer(bundle, types.MediaType(mediaType))}
	layer, err := partial.Descriptor(a.content)
	if err != nil {
		return nil, fmt.Errorf("describe a bundle: %w", err)
	}
	config := []byte("{}")
	sum := sha256.Sum256(config)
	a.manifest, err = json.Marshal(struct {
		v1.Manifest
		ArtifactType string `json:"artifactType"`
	}{v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Layers: []v1.Descriptor{*layer},
		Config:      v1.Descriptor{MediaType: emptyConfig, Size: int64(len(config)), Digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(sum[:])}},
		Subject:     &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size},
		Annotations: map[string]string{bundleContent: "dsse-envelope", bundlePredicate: predicateType},
	}, mediaType})
	if err != nil {
		return nil, fmt.Errorf("write the manifest of a bundle: %w", err)
	}
	return partial.CompressedToImage(a)
}

// RawConfigFile implements partial.CompressedImageCore.
func (a *artifact) RawConfigFile() ([]byte, error) { return []byte("{}"), nil }

// MediaType implements partial.CompressedImageCore.
func (a *artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

// RawManifest implements partial.CompressedImageCore.
func (a *artifact) RawManifest() ([]byte, error) { return a.manifest, nil }

// LayerByDigest implements partial.CompressedImageCore.
func (a *artifact) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	if digest, err := a.content.Digest(); err == nil && h == digest {
		return a.content, nil
	}
	return nil, fmt.Errorf("the bundle has no layer %s: %w", h, io.ErrUnexpectedEOF)
}
