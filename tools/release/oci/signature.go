package oci

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Media types and annotations of cosign's signatures and attestations, and the endings of
// their tags.
const (
	simpleSigning   types.MediaType = "application/vnd.dev.cosign.simplesigning.v1+json"
	envelope        types.MediaType = "application/vnd.dsse.envelope.v1+json"
	SignatureNote                   = "dev.cosignproject.cosign/signature"
	PredicateNote                   = "predicateType"
	SignatureTag                    = "sig"
	AttestationTag                  = "att"
	simpleSignature                 = "cosign container image signature"
)

// CosignTag returns the tag that cosign looks for what belongs to a digest under.
func CosignTag(of v1.Hash, ending string) string {
	return strings.ReplaceAll(of.String(), ":", "-") + "." + ending
}

// Payload is what a signature of an image signs.
type Payload struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]string `json:"optional"`
}

// NewPayload returns what has to be signed for the image with a digest in a repository.
func NewPayload(repository string, digest v1.Hash) ([]byte, error) {
	var p Payload
	p.Critical.Identity.Reference = repository
	p.Critical.Image.Digest = digest.String()
	p.Critical.Type = simpleSignature
	return json.Marshal(p)
}

// Signature is an image with a payload and its signature.
func Signature(payload, signature []byte) (v1.Image, error) {
	return attached(mutate.Addendum{
		Layer:       static.NewLayer(payload, simpleSigning),
		Annotations: map[string]string{SignatureNote: base64.StdEncoding.EncodeToString(signature)},
	})
}

// Attestation is a signed statement and the type of its predicate.
type Attestation struct {
	PredicateType string
	// Envelope is in DSSE.
	Envelope []byte
}

// Attestations is an image with attestations.
func Attestations(all ...Attestation) (v1.Image, error) {
	adds := make([]mutate.Addendum, 0, len(all))
	for _, a := range all {
		adds = append(adds, mutate.Addendum{
			Layer:       static.NewLayer(a.Envelope, envelope),
			Annotations: map[string]string{SignatureNote: "", PredicateNote: a.PredicateType},
		})
	}
	return attached(adds...)
}

func attached(adds ...mutate.Addendum) (v1.Image, error) {
	img, err := mutate.Append(scratch(), adds...)
	if err != nil {
		return nil, fmt.Errorf("make the image of a signature: %w", err)
	}
	return listed{img}, nil
}
