// Package registry pushes the images, charts, signatures and attestations of a release to a
// registry, and verifies what a registry has of them.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"spokeshave.dev/tools/release/oci"
)

// Client talks to registries, with the credentials that "docker login" or "crane auth
// login" has left.
type Client struct {
	// PlainHTTP leaves TLS out; local registries are spoken to without it anyway.
	PlainHTTP bool
	// Progress gets a line for each thing that is pushed or verified.
	Progress io.Writer
}

// entry is something of a release, and its name in the registry: a tag, or the digest for
// what refers to something with a tag.
type entry struct {
	ref        name.Reference
	descriptor v1.Descriptor
}

// CheckName returns an error unless a registry with a path can be pushed to: REGISTRY of
// "make release". A host has to be in it, since a name without one is in Docker's registry,
// where somebody else may own it.
func CheckName(registry string) error {
	if _, err := name.NewRepository(registry+"/controller", name.StrictValidation); err != nil {
		return fmt.Errorf("registry %q: %w: want host/path, such as registry.example.com/team", registry, err)
	}
	return nil
}

func (c *Client) entries(top v1.ImageIndex) ([]entry, error) {
	manifest, err := top.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read what the release has: %w", err)
	}
	options := []name.Option{name.StrictValidation}
	if c.PlainHTTP {
		options = append(options, name.Insecure)
	}
	var out []entry
	for _, d := range manifest.Manifests {
		ref, err := name.ParseReference(d.Annotations[oci.RefName], options...)
		if err != nil {
			return nil, fmt.Errorf("%q is no name in a registry: was the release built with REGISTRY? %w", d.Annotations[oci.RefName], err)
		}
		out = append(out, entry{ref, d})
	}
	return out, nil
}

func (c *Client) options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("spokeshave-release")}
}

// Push copies everything in a layout to the registry that its names say, images before
// signatures. What is there already is left; a tag that names something else is an error,
// and stays: a version is released once.
func (c *Client) Push(ctx context.Context, top v1.ImageIndex) error {
	all, err := c.entries(top)
	if err != nil {
		return err
	}
	for _, e := range all {
		there, err := c.head(ctx, e.ref)
		if err != nil {
			return err
		}
		if there != nil && there.Digest != e.descriptor.Digest {
			return fmt.Errorf("push %s: the registry has it as %s, this release as %s: a version is released once; choose another, or remove that one", e.ref, there.Digest, e.descriptor.Digest)
		}
	}
	for _, e := range all {
		start := time.Now()
		fmt.Fprintf(c.Progress, "pushing %s … ", e.ref)
		if err := c.push(ctx, top, e); err != nil {
			return fmt.Errorf("push %s: %w", e.ref, err)
		}
		fmt.Fprintln(c.Progress, time.Since(start).Round(100*time.Millisecond))
	}
	return nil
}

// head returns what a name is of, nil for nothing.
func (c *Client) head(ctx context.Context, ref name.Reference) (*v1.Descriptor, error) {
	d, err := remote.Head(ref, c.options(ctx)...)
	var refused *transport.Error
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", ref, err)
	}
	return d, nil
}

func (c *Client) push(ctx context.Context, top v1.ImageIndex, e entry) error {
	if e.descriptor.MediaType.IsIndex() {
		index, err := top.ImageIndex(e.descriptor.Digest)
		if err != nil {
			return err
		}
		return remote.WriteIndex(e.ref, index, c.options(ctx)...)
	}
	image, err := top.Image(e.descriptor.Digest)
	if err != nil {
		return err
	}
	return remote.Write(e.ref, image, c.options(ctx)...)
}
