package main

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// labels describe the image, in the config of each platform and in the index.
func labels(version string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "spokeshave",
		"org.opencontainers.image.version":  version,
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.url":      "https://spokeshave.dev",
	}
}

// newImage is the image for a platform: the layers, the lowest first, and how
// to run the program in them.
func newImage(version string, p v1.Platform, layers ...v1.Layer) (v1.Image, error) {
	// The library's empty image has Docker's media types.
	scratch := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.ConfigFile(scratch, &v1.ConfigFile{
		OS:           p.OS,
		Architecture: p.Architecture,
		Created:      v1.Time{Time: epoch()},
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:       fmt.Sprintf("%d:%d", user, user),
			Entrypoint: []string{"/" + entrypoint},
			Env:        []string{"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			WorkingDir: "/",
			Labels:     labels(version),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("configure the image for %s: %w", p, err)
	}
	adds := make([]mutate.Addendum, 0, len(layers))
	for i, layer := range layers {
		adds = append(adds, mutate.Addendum{Layer: layer, History: v1.History{
			Created: v1.Time{Time: epoch()}, CreatedBy: fmt.Sprintf("spokeshave image, layer %d", i),
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

// platformImage is the image for one platform.
type platformImage struct {
	platform v1.Platform
	image    v1.Image
}

// newLayout is the content of index.json: one entry, named after the version,
// for the index that lists the images by platform.
func newLayout(version string, images []platformImage) v1.ImageIndex {
	adds := make([]mutate.IndexAddendum, 0, len(images))
	for _, i := range images {
		adds = append(adds, mutate.IndexAddendum{Add: listed{i.image}, Descriptor: v1.Descriptor{Platform: &i.platform}})
	}
	// Annotations returns the type it is given.
	platforms := mutate.Annotations(mutate.AppendManifests(empty.Index, adds...), labels(version)).(v1.ImageIndex)
	return mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add:        platforms,
		Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": version}},
	})
}
