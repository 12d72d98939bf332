package sign

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/fulcio/certificate"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// Identity verifies what was signed without a key that lasts: who signed, as a certificate
// says, and that a log has it.
type Identity struct {
	verifier *verify.Verifier
	who      verify.CertificateIdentity
}

// NewIdentity returns a verifier for what an identity has signed, such as the address of a
// workflow or of a person, that an issuer vouches for, such as the address of a forge.
func NewIdentity(identity, issuer string, services Services) (*Identity, error) {
	if identity == "" || issuer == "" {
		return nil, errors.New("an identity counts for something only with who vouches for it: say both, --identity and --issuer (IDENTITY= and ISSUER= of make)")
	}
	who, err := verify.NewShortCertificateIdentity(issuer, "", identity, "")
	if err != nil {
		return nil, fmt.Errorf("read the identity: %w", err)
	}
	trusted, err := services.trusted()
	if err != nil {
		return nil, err
	}
	options := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
	if len(trusted.CTLogs()) > 0 { // a private authority may do without
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	verifier, err := verify.NewVerifier(trusted, options...)
	if err != nil {
		return nil, fmt.Errorf("use the trusted root: %w", err)
	}
	return &Identity{verifier, who}, nil
}

// VerifyBlob returns ErrSignature unless the bundle has this identity's signature of data.
func (i *Identity) VerifyBlob(text, data []byte) error {
	_, err := i.verify(text, verify.WithArtifact(bytes.NewReader(data)))
	return err
}

// Open returns the statement in a bundle that this identity has signed. What it is about is
// for the caller to compare.
func (i *Identity) Open(text []byte) ([]byte, error) {
	b, err := i.verify(text, verify.WithoutArtifactUnsafe())
	if err != nil {
		return nil, err
	}
	envelope, err := b.Envelope()
	if err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	if envelope.PayloadType != payloadType {
		return nil, fmt.Errorf("read the statement: it is %q, want %s", envelope.PayloadType, payloadType)
	}
	return envelope.DecodeB64Payload()
}

func (i *Identity) verify(text []byte, about verify.ArtifactPolicyOption) (*bundle.Bundle, error) {
	var b bundle.Bundle
	if err := b.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("read a bundle: %w", err)
	}
	if _, err := i.verifier.Verify(&b, verify.NewPolicy(about, verify.WithCertificateIdentity(i.who))); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return &b, nil
}

// summarize reads identity and issuer from a certificate.
func summarize(der []byte) (identity, issuer string, err error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return "", "", fmt.Errorf("read the certificate: %w", err)
	}
	s, err := certificate.SummarizeCertificate(c)
	if err != nil {
		return "", "", fmt.Errorf("read the certificate: %w", err)
	}
	return s.SubjectAlternativeName, s.Issuer, nil
}
