package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/provenance"
	"spokeshave.dev/tools/release/sign"
)

// Verify reads from the registry everything that a layout has, and compares it by digest:
// what a tag names, and each manifest, config and layer below it. It verifies the signatures
// and attestations as well, as the registry has them, if some are trusted.
func (c *Client) Verify(ctx context.Context, top v1.ImageIndex, trust sign.Trust) error {
	all, err := c.entries(top)
	if err != nil {
		return err
	}
	for _, e := range all {
		start := time.Now()
		fmt.Fprintf(c.Progress, "verifying %s … ", e.ref)
		there, err := c.head(ctx, e.ref)
		switch {
		case err != nil:
			return err
		case there == nil:
			return fmt.Errorf("verify %s: the registry does not have it", e.ref)
		case there.Digest != e.descriptor.Digest:
			return fmt.Errorf("verify %s: the registry has it as %s, the release as %s", e.ref, there.Digest, e.descriptor.Digest)
		}
		if err := c.below(ctx, e.ref.Context(), e.descriptor.Digest); err != nil {
			return fmt.Errorf("verify %s: %w", e.ref, err)
		}
		if !trust.None() && !attachment(e.ref) {
			if err := c.allSigned(ctx, top, e, trust); err != nil {
				return fmt.Errorf("verify %s: %w", e.ref, err)
			}
		}
		fmt.Fprintln(c.Progress, time.Since(start).Round(100*time.Millisecond))
	}
	return nil
}

// attachment tells whether a name is that of a signature or attestation.
func attachment(ref name.Reference) bool {
	tag, ok := ref.(name.Tag)
	return !ok || strings.HasPrefix(tag.TagStr(), "sha256-")
}

// signedBy verifies the signature of a digest and its attestations by who is trusted.
func (c *Client) signedBy(ctx context.Context, in name.Repository, digest v1.Hash, trust sign.Trust) error {
	if trust.Key != nil {
		return c.signed(ctx, in, digest, trust.Key)
	}
	return c.identified(ctx, in, digest, trust.Identity)
}

// allSigned verifies the signatures of an entry, and of each platform's image in it.
func (c *Client) allSigned(ctx context.Context, top v1.ImageIndex, e entry, trust sign.Trust) error {
	digests := []v1.Hash{e.descriptor.Digest}
	if e.descriptor.MediaType.IsIndex() {
		index, err := top.ImageIndex(e.descriptor.Digest)
		if err != nil {
			return err
		}
		manifest, err := index.IndexManifest()
		if err != nil {
			return err
		}
		for _, d := range manifest.Manifests {
			digests = append(digests, d.Digest)
		}
	}
	for _, digest := range digests {
		if err := c.signedBy(ctx, e.ref.Context(), digest, trust); err != nil {
			return err
		}
	}
	return nil
}

// below reads a manifest and what it names. The client compares each digest.
func (c *Client) below(ctx context.Context, in name.Repository, digest v1.Hash) error {
	got, err := remote.Get(in.Digest(digest.String()), c.options(ctx)...)
	if err != nil {
		return fmt.Errorf("read the manifest %s: %w", digest, err)
	}
	var m struct {
		Config    *v1.Descriptor  `json:"config"`
		Layers    []v1.Descriptor `json:"layers"`
		Manifests []v1.Descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(got.Manifest, &m); err != nil {
		return fmt.Errorf("read the manifest %s: %w", digest, err)
	}
	for _, d := range m.Manifests {
		if err := c.below(ctx, in, d.Digest); err != nil {
			return err
		}
	}
	if m.Config != nil {
		m.Layers = append(m.Layers, *m.Config)
	}
	for _, d := range m.Layers {
		if err := c.blob(ctx, in, d.Digest, io.Discard); err != nil {
			return err
		}
	}
	return nil
}

// blob reads a blob, and fails when it has another digest.
func (c *Client) blob(ctx context.Context, in name.Repository, digest v1.Hash, to io.Writer) error {
	layer, err := remote.Layer(in.Digest(digest.String()), c.options(ctx)...)
	if err != nil {
		return fmt.Errorf("find the blob %s: %w", digest, err)
	}
	body, err := layer.Compressed()
	if err != nil {
		return fmt.Errorf("read the blob %s: %w", digest, err)
	}
	defer body.Close()
	if _, err := io.Copy(to, body); err != nil {
		return fmt.Errorf("read the blob %s: %w", digest, err)
	}
	return nil
}

// ErrUnsigned says that something has no signature, or no provenance.
var ErrUnsigned = errors.New("not signed")

// signed verifies the signature of a digest and its attestations, one of which has to be
// its provenance.
func (c *Client) signed(ctx context.Context, in name.Repository, digest v1.Hash, key *sign.Verifier) error {
	signatures, err := c.attached(ctx, in, digest, oci.SignatureTag)
	if err != nil {
		return err
	}
	for _, s := range signatures {
		if err := verifySignature(ctx, s, digest, key); err != nil {
			return err
		}
	}
	attestations, err := c.attached(ctx, in, digest, oci.AttestationTag)
	if err != nil {
		return err
	}
	made := false
	for _, a := range attestations {
		statement, err := key.Open(ctx, a.body)
		if err != nil {
			return err
		}
		if err := about(statement, digest, a.annotations[oci.PredicateNote]); err != nil {
			return err
		}
		made = made || a.annotations[oci.PredicateNote] == provenance.PredicateType
	}
	if !made {
		return fmt.Errorf("%s has no provenance: %w", digest, ErrUnsigned)
	}
	return nil
}

// part is a layer of a signature or attestation.
type part struct {
	body        []byte
	annotations map[string]string
}

// attached reads what belongs to a digest.
func (c *Client) attached(ctx context.Context, in name.Repository, digest v1.Hash, ending string) ([]part, error) {
	tag := in.Tag(oci.CosignTag(digest, ending))
	there, err := c.head(ctx, tag)
	if err != nil {
		return nil, err
	}
	if there == nil {
		return nil, fmt.Errorf("the registry has no %s: %w", tag, ErrUnsigned)
	}
	got, err := remote.Get(in.Digest(there.Digest.String()), c.options(ctx)...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", tag, err)
	}
	var m v1.Manifest
	if err := json.Unmarshal(got.Manifest, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", tag, err)
	}
	if len(m.Layers) == 0 {
		return nil, fmt.Errorf("%s is empty: %w", tag, ErrUnsigned)
	}
	var out []part
	for _, d := range m.Layers {
		var body strings.Builder
		if err := c.blob(ctx, in, d.Digest, &body); err != nil {
			return nil, err
		}
		out = append(out, part{[]byte(body.String()), d.Annotations})
	}
	return out, nil
}

func verifySignature(ctx context.Context, s part, digest v1.Hash, key *sign.Verifier) error {
	signature, err := base64.StdEncoding.DecodeString(s.annotations[oci.SignatureNote])
	if err != nil {
		return fmt.Errorf("read the signature of %s: %w", digest, err)
	}
	if err := key.Verify(ctx, s.body, signature); err != nil {
		return fmt.Errorf("verify the signature of %s: %w", digest, err)
	}
	var p oci.Payload
	if err := json.Unmarshal(s.body, &p); err != nil {
		return fmt.Errorf("read what was signed for %s: %w", digest, err)
	}
	if p.Critical.Image.Digest != digest.String() {
		return fmt.Errorf("the signature beside %s is of %s: %w", digest, p.Critical.Image.Digest, sign.ErrSignature)
	}
	return nil
}

// about returns an error unless a statement has the digest among its subjects and a
// predicate of the type.
func about(statement []byte, digest v1.Hash, predicateType string) error {
	var s provenance.Statement
	if err := json.Unmarshal(statement, &s); err != nil {
		return fmt.Errorf("read the statement about %s: %w", digest, err)
	}
	if s.PredicateType != predicateType {
		return fmt.Errorf("the statement about %s is of type %s, and says %s: %w", digest, s.PredicateType, predicateType, sign.ErrSignature)
	}
	if !slices.ContainsFunc(s.Subject, func(one provenance.Subject) bool { return one.Digest["sha256"] == digest.Hex }) {
		return fmt.Errorf("the statement beside %s is not about it: %w", digest, sign.ErrSignature)
	}
	return nil
}
