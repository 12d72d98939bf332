package sign

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// payloadType is that of in-toto statements.
const payloadType = "application/vnd.in-toto+json"

// Envelope returns the statement in a DSSE envelope signed by the key, as JSON on one line.
func (k *Key) Envelope(ctx context.Context, statement []byte) ([]byte, error) {
	signer, err := dsse.NewEnvelopeSigner(k)
	if err != nil {
		return nil, fmt.Errorf("sign a statement: %w", err)
	}
	envelope, err := signer.SignPayload(ctx, payloadType, statement)
	if err != nil {
		return nil, fmt.Errorf("sign a statement: %w", err)
	}
	return json.Marshal(envelope)
}

// Open returns the statement in an envelope that the key has signed.
func (v *Verifier) Open(ctx context.Context, envelope []byte) ([]byte, error) {
	var e dsse.Envelope
	if err := json.Unmarshal(envelope, &e); err != nil {
		return nil, fmt.Errorf("read the envelope: %w", err)
	}
	if e.PayloadType != payloadType {
		return nil, fmt.Errorf("read the envelope: it holds %q, want %s", e.PayloadType, payloadType)
	}
	verifier, err := dsse.NewEnvelopeVerifier(v)
	if err != nil {
		return nil, fmt.Errorf("verify the envelope: %w", err)
	}
	_, body, err := verifier.VerifyAndDecode(ctx, &e)
	if err != nil {
		return nil, fmt.Errorf("verify the envelope: %w: %w", ErrSignature, err)
	}
	return body, nil
}
