package sign

import (
	"context"
	"errors"
	"fmt"
	"time"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
)

// BundleType is the media type of Sigstore bundles: a signature with the certificate of who
// signed, its entry in a transparency log, and a time.
const BundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// Services says which instances of Sigstore sign, and which are trusted. Both are files that
// cosign reads as well; without them those of the public instance are downloaded.
type Services struct {
	// SigningConfig has the addresses of certificate authority, logs and time stamps.
	SigningConfig string
	// TrustedRoot has their certificates and keys.
	TrustedRoot string
}

// trusted reads the certificates and keys.
func (s Services) trusted() (*root.TrustedRoot, error) {
	if s.TrustedRoot != "" {
		r, err := root.NewTrustedRootFromPath(s.TrustedRoot)
		if err != nil {
			return nil, fmt.Errorf("read the trusted root %s: %w", s.TrustedRoot, err)
		}
		return r, nil
	}
	r, err := root.FetchTrustedRoot()
	if err != nil {
		return nil, fmt.Errorf("download the trusted root of the public Sigstore (TRUSTED_ROOT= says another): %w", err)
	}
	return r, nil
}

// config reads the addresses.
func (s Services) config() (*root.SigningConfig, error) {
	if s.SigningConfig != "" {
		c, err := root.NewSigningConfigFromPath(s.SigningConfig)
		if err != nil {
			return nil, fmt.Errorf("read the signing config %s: %w", s.SigningConfig, err)
		}
		return c, nil
	}
	c, err := root.FetchSigningConfig()
	if err != nil {
		return nil, fmt.Errorf("download the signing config of the public Sigstore (SIGNING_CONFIG= says another): %w", err)
	}
	return c, nil
}

// Keyless signs as the identity of the environment, with a key that is made for it and
// forgotten. A certificate says whose it was, and a public log that it was used.
type Keyless struct {
	pair    sign.Keypair
	options sign.BundleOptions
}

// NewKeyless returns a signer for one release: its certificate is valid for minutes. env
// reads the environment.
func NewKeyless(ctx context.Context, services Services, env func(string) string, now time.Time) (*Keyless, error) {
	if err := hasToken(env); err != nil {
		return nil, err
	}
	config, err := services.config()
	if err != nil {
		return nil, err
	}
	trusted, err := services.trusted()
	if err != nil {
		return nil, err
	}
	pair, err := sign.NewEphemeralKeypair(nil)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	options, err := clients(config, now)
	if err != nil {
		return nil, err
	}
	identity, err := token(ctx, env)
	if err != nil {
		return nil, err
	}
	options.CertificateProvider = &once{from: options.CertificateProvider}
	options.CertificateProviderOptions = &sign.CertificateProviderOptions{IDToken: identity}
	options.TrustedRoot = trusted // what is made is verified at once
	return &Keyless{pair, *options}, nil
}

// retries is how often a service that is out of order is asked again.
const retries = 3

// clients returns clients of the services that the config selects.
func clients(config *root.SigningConfig, now time.Time) (*sign.BundleOptions, error) {
	fulcio, err := root.SelectService(config.FulcioCertificateAuthorityURLs(), sign.FulcioAPIVersions, now)
	if err != nil {
		return nil, fmt.Errorf("select a certificate authority: %w", err)
	}
	out := &sign.BundleOptions{CertificateProvider: sign.NewFulcio(&sign.FulcioOptions{BaseURL: fulcio.URL, Retries: retries})}
	logs, err := root.SelectServices(config.RekorLogURLs(), config.RekorLogURLsConfig(), sign.RekorAPIVersions, now)
	if err != nil {
		return nil, fmt.Errorf("select a transparency log: %w", err)
	}
	for _, l := range logs {
		out.TransparencyLogs = append(out.TransparencyLogs, sign.NewRekor(&sign.RekorOptions{BaseURL: l.URL, Retries: retries, Version: l.MajorAPIVersion}))
	}
	if len(config.TimestampAuthorityURLs()) == 0 {
		return out, nil // the log tells the time
	}
	times, err := root.SelectServices(config.TimestampAuthorityURLs(), config.TimestampAuthorityURLsConfig(), sign.TimestampAuthorityAPIVersions, now)
	if err != nil {
		return nil, fmt.Errorf("select a time stamp authority: %w", err)
	}
	for _, a := range times {
		out.TimestampAuthorities = append(out.TimestampAuthorities, sign.NewTimestampAuthority(&sign.TimestampAuthorityOptions{URL: a.URL, Retries: retries}))
	}
	return out, nil
}

// Blob returns the bundle with a signature of data.
func (k *Keyless) Blob(ctx context.Context, data []byte) ([]byte, error) {
	return k.bundle(ctx, &sign.PlainData{Data: data})
}

// Statement returns the bundle with a signed in-toto statement.
func (k *Keyless) Statement(ctx context.Context, statement []byte) ([]byte, error) {
	return k.bundle(ctx, &sign.DSSEData{Data: statement, PayloadType: payloadType})
}

func (k *Keyless) bundle(ctx context.Context, content sign.Content) ([]byte, error) {
	options := k.options
	options.Context = ctx
	made, err := sign.Bundle(content, k.pair, options)
	if err != nil {
		return nil, fmt.Errorf("sign with an identity: %w", err)
	}
	text, err := protojson.MarshalOptions{}.Marshal(made)
	if err != nil {
		return nil, fmt.Errorf("write a bundle: %w", err)
	}
	return text, nil
}

// Signer returns the identity that the certificate in a bundle names, and who vouched for it.
func Signer(bundle []byte) (identity, issuer string, err error) {
	var b protobundle.Bundle
	if err := protojson.Unmarshal(bundle, &b); err != nil {
		return "", "", fmt.Errorf("read a bundle: %w", err)
	}
	return summarize(b.GetVerificationMaterial().GetCertificate().GetRawBytes())
}

// once asks for a certificate once.
type once struct {
	from sign.CertificateProvider
	got  []byte
}

// GetCertificate implements sign.CertificateProvider.
func (o *once) GetCertificate(ctx context.Context, pair sign.Keypair, options *sign.CertificateProviderOptions) ([]byte, error) {
	if o.got != nil {
		return o.got, nil
	}
	got, err := o.from.GetCertificate(ctx, pair, options)
	if err != nil {
		return nil, fmt.Errorf("get a certificate: %w", err)
	}
	if len(got) == 0 {
		return nil, errors.New("get a certificate: the answer is empty")
	}
	o.got = got
	return got, nil
}
