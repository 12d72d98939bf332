// Package oci assembles what a registry keeps, without a container engine: images of
// several platforms, charts, signatures and attestations, and the layout that holds them
// in one file. It compiles and pushes nothing.
package oci

import (
	"fmt"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Image says what is common to the images of all platforms.
type Image struct {
	Version string
	// Created is when the image was made: the time of the commit, or Epoch.
	Created time.Time
}

// labels describe the image, in the config of each platform and in the index.
func (i Image) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "spokeshave",
		"org.opencontainers.image.version":  i.Version,
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.url":      "https://spokeshave.dev",
	}
}

// scratch is an image without content in OCI's media types; the library's empty image has
// Docker's.
func scratch() v1.Image {
	return mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
}

// Platform is the image for a platform: the layers, the lowest first, and how
// to run the program in them.
func (i Image) Platform(p v1.Platform, layers ...v1.Layer) (v1.Image, error) {
	img, err := mutate.ConfigFile(scratch(), &v1.ConfigFile{
		OS:           p.OS,
		Architecture: p.Architecture,
		Created:      v1.Time{Time: i.Created},
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       strconv.Itoa(user) + ":" + strconv.Itoa(user),
			Entrypoint: []string{"/" + Entrypoint},
			Env:        []string{"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			WorkingDir: "/",
			Labels:     i.labels(),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("configure the image for %s: %w", p, err)
	}
	adds := make([]mutate.Addendum, 0, len(layers))
	for n, layer := range layers {
		adds = append(adds, mutate.Addendum{Layer: layer, History: v1.History{
			Created: v1.Time{Time: i.Created}, CreatedBy: fmt.Sprintf("spokeshave image, layer %d", n),
		}})
	}
	if img, err = mutate.Append(img, adds...); err != nil {
		return nil, fmt.Errorf("add the layers for %s: %w", p, err)
	}
	return img, nil
}

// listed is an image as an index lists it: without an artifact type, which the
// library derives from the config otherwise and which marks content
// that is no container image.
type listed struct{ v1.Image }

// ArtifactType is empty; the library asks for it when it makes the descriptor.
func (listed) ArtifactType() (string, error) { return "", nil }

// PlatformImage is the image for one platform.
type PlatformImage struct {
	Platform v1.Platform
	Image    v1.Image
}

// Index lists the images by platform.
func (i Image) Index(images []PlatformImage) v1.ImageIndex {
	adds := make([]mutate.IndexAddendum, 0, len(images))
	for _, p := range images {
		adds = append(adds, mutate.IndexAddendum{Add: listed{p.Image}, Descriptor: v1.Descriptor{Platform: &p.Platform}})
	}
	// Annotations returns the type it is given.
	return mutate.Annotations(mutate.AppendManifests(empty.Index, adds...), i.labels()).(v1.ImageIndex)
}
