package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"spokeshave.dev/tools/release/provenance"
	"spokeshave.dev/tools/release/sign"
)

// identified verifies that an identity has signed a digest and its provenance. Bundles of
// others may be beside them: whoever can push to the registry can attach more.
func (c *Client) identified(ctx context.Context, in name.Repository, digest v1.Hash, identity *sign.Identity) error {
	bundles, err := c.bundles(ctx, in, digest)
	if err != nil {
		return err
	}
	stated, refused := map[string]bool{}, []error{}
	for _, b := range bundles {
		predicate, err := statedBy(b, digest, identity)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		stated[predicate] = true
	}
	for _, want := range []string{provenance.SignatureType, provenance.PredicateType} {
		if !stated[want] {
			return fmt.Errorf("nothing of the type %s about %s is by the identity: %w", want, digest, errors.Join(append(refused, ErrUnsigned)...))
		}
	}
	return nil
}

// statedBy returns the type of what an identity states in a bundle about a digest.
func statedBy(bundle []byte, digest v1.Hash, identity *sign.Identity) (string, error) {
	statement, err := identity.Open(bundle)
	if err != nil {
		return "", err
	}
	var s provenance.Statement
	if err := json.Unmarshal(statement, &s); err != nil {
		return "", fmt.Errorf("read the statement about %s: %w", digest, err)
	}
	return s.PredicateType, about(statement, digest, s.PredicateType)
}

// bundles reads the Sigstore bundles that refer to a digest.
func (c *Client) bundles(ctx context.Context, in name.Repository, digest v1.Hash) ([][]byte, error) {
	referrers, err := remote.Referrers(in.Digest(digest.String()), c.options(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("ask what refers to %s: %w", digest, err)
	}
	list, err := referrers.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read what refers to %s: %w", digest, err)
	}
	var out [][]byte
	for _, d := range list.Manifests {
		got, err := remote.Get(in.Digest(d.Digest.String()), c.options(ctx)...)
		if err != nil {
			return nil, fmt.Errorf("read what refers to %s: %w", digest, err)
		}
		var m v1.Manifest
		if err := json.Unmarshal(got.Manifest, &m); err != nil {
			return nil, fmt.Errorf("read what refers to %s: %w", digest, err)
		}
		if len(m.Layers) != 1 || m.Layers[0].MediaType != sign.BundleType {
			continue // something else, such as a scanner's report
		}
		var body strings.Builder
		if err := c.blob(ctx, in, m.Layers[0].Digest, &body); err != nil {
			return nil, err
		}
		out = append(out, []byte(body.String()))
	}
	return out, nil
}
