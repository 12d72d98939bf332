package main

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/sigstore/sigstore/pkg/signature/dsse"
	"github.com/sigstore/sigstore/pkg/signature/payload"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/registry"
)

// TestCosign verifies what a registry has with the packages that cosign verifies with: the
// signature of the image, its attestation, and the signature of the checksums.
func TestCosign(t *testing.T) {
	at := host(t, nil)
	o, public := released(t, at)
	if err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, trusted{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := cryptoutils.UnmarshalPEMToPublicKey(text)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Head(tag(t, at+"/team/controller:v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}

	body, annotations := layer(t, at, image.Digest, "sig")
	sig, err := base64.StdEncoding.DecodeString(annotations["dev.cosignproject.cosign/signature"])
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.VerifySignature(bytes.NewReader(sig), bytes.NewReader(body)); err != nil {
		t.Errorf("the signature of the image: %v", err)
	}
	var signed payload.Cosign
	if err := json.Unmarshal(body, &signed); err != nil {
		t.Fatal(err)
	}
	if signed.Image.Identifier() != image.Digest.String() {
		t.Errorf("the signature is of %s, want %s", signed.Image, image.Digest)
	}

	envelope, annotations := layer(t, at, image.Digest, "att")
	if err := dsse.WrapVerifier(verifier).VerifySignature(bytes.NewReader(envelope), nil); err != nil {
		t.Errorf("the attestation: %v", err)
	}
	if annotations["predicateType"] != "https://slsa.dev/provenance/v1" {
		t.Errorf("the attestation has the annotations %v", annotations)
	}

	encoded, err := os.ReadFile(filepath.Join(o.out, signatureFile))
	if err != nil {
		t.Fatal(err)
	}
	if sig, err = base64.StdEncoding.DecodeString(string(bytes.TrimSpace(encoded))); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(o.out, sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.VerifySignature(bytes.NewReader(sig), bytes.NewReader(sums)); err != nil {
		t.Errorf("the signature of the checksums: %v", err)
	}
	if err := verifier.VerifySignature(bytes.NewReader(sig), bytes.NewReader(body)); err == nil {
		t.Error("the verifier accepts anything")
	}
}

// TestCosignItself: cosign, where it is (make release-check), verifies image, chart, provenance
// and files as docs/install.md says, and refuses another key.
func TestCosignItself(t *testing.T) {
	program := cosignProgram(t)
	at := host(t, nil)
	o, public := released(t, at)
	other, _ := ecdsaKeys(t)
	if err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, trusted{}); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--allow-http-registry", at + "/team/controller:v1.2.3"},
		{"verify", "--allow-http-registry", at + "/team/charts/spokeshave:1.2.3"},
		{"verify-attestation", "--allow-http-registry", "--type", "slsaprovenance1", at + "/team/controller:v1.2.3"},
		{"verify-blob", "--signature", signatureFile, sumsFile},
		{"verify-blob-attestation", "--type", "slsaprovenance1", "--signature", provenanceFile, "CHANGELOG.md"},
	} {
		for key, want := range map[string]bool{public: true, other: false} {
			cmd := exec.CommandContext(t.Context(), program, append(args, "--key", key, "--insecure-ignore-tlog=true", "--new-bundle-format=false")...)
			cmd.Dir = o.out
			if out, err := cmd.CombinedOutput(); (err == nil) != want {
				t.Errorf("cosign %v, by the right key: %t: %v\n%s", args, want, err, out)
			}
		}
	}
}

// layer returns the first layer of what belongs to an image, and its annotations.
func layer(t *testing.T, at string, of v1.Hash, ending string) ([]byte, map[string]string) {
	t.Helper()
	img, err := remote.Image(tag(t, at+"/team/controller:"+oci.CosignTag(of, ending)))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	l, err := img.LayerByDigest(manifest.Layers[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return body, manifest.Layers[0].Annotations
}
