package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/registry"
	"spokeshave.dev/tools/release/sign"
	"spokeshave.dev/tools/release/sign/sigstoretest"
)

// identified builds a small release for a registry and signs it with the identity of a test.
func identified(t *testing.T, at string) (o options, s *sigstoretest.Sigstore, who trusted) {
	t.Helper()
	s = sigstoretest.Start(t)
	o = small(t, checkout(t, tree()))
	o.archives, o.registry = o.archives[:1], at+"/team"
	make1(t, o)
	t.Setenv("SIGSTORE_ID_TOKEN", sigstoretest.Token())
	services := sign.Services{SigningConfig: s.SigningConfig, TrustedRoot: s.TrustedRoot}
	if err := signKeyless(t.Context(), o.out, services, io.Discard); err != nil {
		t.Fatal(err)
	}
	return o, s, trusted{identity: sigstoretest.Identity, issuer: sigstoretest.Issuer, services: services}
}

// referring starts a registry in memory, with or without the API by which OCI 1.1 asks what
// refers to an image; without it clients keep a list under a tag.
func referring(t *testing.T, api bool) string {
	t.Helper()
	server := httptest.NewServer(ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)), ggcr.WithReferrersSupport(api)))
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	return strings.TrimPrefix(server.URL, "http://")
}

// TestKeyless: a release that an identity has signed is pushed, read back and verified, in
// registries of both kinds; pushing it again changes nothing.
func TestKeyless(t *testing.T) {
	for name, api := range map[string]bool{"with referrers": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			at := referring(t, api)
			o, s, who := identified(t, at)
			if want := 2 + 3 + 3 + 2 + 2; s.Certificates != 1 || s.Entries != want {
				t.Errorf("%d certificates and %d entries in the log, want 1 and %d: index, two platforms with an SBOM each, chart, two files", s.Certificates, s.Entries, want)
			}
			for range 2 {
				if err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, who); err != nil {
					t.Fatal(err)
				}
			}
			t.Run("refused", func(t *testing.T) { checkRefusedIdentities(t, o, who) })
			t.Run("cosign", func(t *testing.T) { checkCosign(t, at, o, who) })
			t.Run("strangers", func(t *testing.T) { checkStrangers(t, at, o, who) })
		})
	}
}

// verifyAll verifies files and registry.
func verifyAll(t *testing.T, from string, who trusted) error {
	t.Helper()
	trust, err := who.read()
	if err != nil {
		return err
	}
	if err := verifyFiles(t.Context(), from, trust, io.Discard); err != nil {
		return err
	}
	return verifyRegistry(t, from, trust)
}

func verifyRegistry(t *testing.T, from string, trust sign.Trust) error {
	t.Helper()
	client := &registry.Client{Progress: io.Discard}
	return withLayout(from, func(top v1.ImageIndex) error { return client.Verify(t.Context(), top, trust) })
}

func checkRefusedIdentities(t *testing.T, o options, who trusted) {
	t.Helper()
	public, _ := ecdsaKeys(t)
	fork := strings.Replace(who.identity, "acme", "fork", 1)
	tests := map[string]struct {
		who  trusted
		want string
	}{
		"the identity":                  {who, ""},
		"another identity":              {trusted{identity: fork, issuer: who.issuer, services: who.services}, "verify SHA256SUMS.sigstore.json"},
		"another issuer":                {trusted{identity: who.identity, issuer: "https://other.example", services: who.services}, "verify SHA256SUMS.sigstore.json"},
		"an identity without issuer":    {trusted{identity: who.identity, services: who.services}, "say both"},
		"a key, which has not signed":   {trusted{key: public}, "verify SHA256SUMS.sig"},
		"a key and an identity at once": {trusted{key: public, identity: who.identity, issuer: who.issuer}, "not both"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := verifyAll(t, o.out, tc.who); tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	other := who
	other.identity = fork
	trust, err := other.read()
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyRegistry(t, o.out, trust); err == nil || !strings.Contains(err.Error(), "is by the identity") || !strings.Contains(err.Error(), "expected SAN value") {
		t.Errorf("another identity has signed what the registry has: %v", err)
	}
}

// checkStrangers: what another identity attaches to an image neither counts nor disturbs; an
// image that only strangers have signed is not signed.
func checkStrangers(t *testing.T, at string, o options, who trusted) {
	t.Helper()
	s := sigstoretest.Start(t)
	s.Stolen = "https://forge.example/fork"
	services := sign.Services{SigningConfig: s.SigningConfig, TrustedRoot: s.TrustedRoot}
	again := o
	again.version, again.out = "v1.2.4", filepath.Join(t.TempDir(), "again")
	make1(t, again)
	if err := signKeyless(t.Context(), again.out, services, io.Discard); err != nil {
		t.Fatal(err)
	}
	stranger := trusted{identity: s.Stolen, issuer: who.issuer, services: services}
	if err := push(t.Context(), &registry.Client{Progress: io.Discard}, again.out, stranger); err != nil {
		t.Fatal(err)
	}
	own := who
	who.services = services // the same authority, so that the names alone differ
	trust, err := who.read()
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyRegistry(t, again.out, trust); err == nil || !strings.Contains(err.Error(), "not signed") {
		t.Errorf("what a stranger has signed passes: %v", err)
	}

	image, err := remote.Head(tag(t, at+"/team/controller:v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := oci.Bundle([]byte("{}"), sign.BundleType, "x", *image)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := foreign.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag(t, at+"/team/controller:v1.2.3").Digest(digest.String()), foreign); err != nil {
		t.Fatal(err)
	}
	if err := verifyAll(t, o.out, own); err != nil {
		t.Errorf("what somebody else has attached disturbs: %v", err)
	}
}

// TestKeylessFiles: signing changes no file of the release; what is changed afterwards is
// found, in files and in what the registry has.
func TestKeylessFiles(t *testing.T) {
	at := referring(t, true)
	o, _, who := identified(t, at)
	if err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, who); err != nil {
		t.Fatal(err)
	}
	again := o
	again.source, again.out = checkout(t, tree()), filepath.Join(t.TempDir(), "again")
	signed, err := readFolder(o.out)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := make1(t, again)
	for name, body := range unsigned {
		if !bytes.Equal(signed[name], body) {
			t.Errorf("%s is not what whoever builds again without the identity gets", name)
		}
	}
	if len(signed) != len(unsigned)+3 {
		t.Errorf("%d files, %d without signatures, want three more", len(signed), len(unsigned))
	}
	write := func(name string, body []byte) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), body, 0o600) }
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	tests := map[string]struct {
		change func(dir string) error
		want   string
	}{
		"nothing":              {func(string) error { return nil }, ""},
		"a changed file":       {write("CHANGELOG.md", []byte("x")), "missing or changed: CHANGELOG.md"},
		"changed with a sum":   {func(dir string) error { return swap(dir, func(d, n string, b []byte) error { return write(n, b)(d) }) }, "verify SHA256SUMS.sigstore.json"},
		"no signature":         {remove(sumsBundle), "no identity has signed it"},
		"no signed provenance": {remove(provenanceBundle), "no identity has signed it"},
		"another provenance":   {write(provenanceBundle, signed[sumsBundle]), "provenance.sigstore.json"},
		"a signature not JSON": {write(sumsBundle, []byte("x")), "read a bundle"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(o.out)); err != nil {
				t.Fatal(err)
			}
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			if err := verifyAll(t, dir, who); tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestUnsignable: what cannot be signed says what to do, and is left as it was.
func TestUnsignable(t *testing.T) {
	s := sigstoretest.Start(t)
	services := sign.Services{SigningConfig: s.SigningConfig, TrustedRoot: s.TrustedRoot}
	plain := small(t, checkout(t, tree()))
	plain.images, plain.archives = plain.images[:1], plain.archives[:1]
	make1(t, plain)
	keyed := plain
	keyed.out = filepath.Join(t.TempDir(), "keyed")
	_, keyed.key = ecdsaKeys(t)
	make1(t, keyed)
	for name, tc := range map[string]struct {
		from, token string
		want        string
	}{
		"no identity":       {plain.out, "", "there is no identity to sign with: set SIGSTORE_ID_TOKEN"},
		"not its token":     {plain.out, "e30.eyJzdWIiOiJ4IiwiaXNzIjoieSJ9.x", "the token is not valid"},
		"signed with a key": {keyed.out, sigstoretest.Token(), "the release is signed with a key"},
		"no release":        {t.TempDir(), sigstoretest.Token(), "say the folder of a release"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"} {
				t.Setenv(variable, "")
			}
			t.Setenv("SIGSTORE_ID_TOKEN", tc.token)
			before, err := os.ReadDir(tc.from)
			if err != nil {
				t.Fatal(err)
			}
			if err := signKeyless(t.Context(), tc.from, services, io.Discard); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if after, err := os.ReadDir(tc.from); err != nil || len(after) != len(before) {
				t.Errorf("%d files before, %d after, %v", len(before), len(after), err)
			}
		})
	}
}

// cosignProgram is cosign, or skips the test.
func cosignProgram(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("COSIGN"); program != "" {
		return program
	}
	program, err := exec.LookPath("cosign")
	if err != nil {
		t.Skip("cosign is neither in the variable COSIGN nor in the PATH: make release-check builds it")
	}
	return program
}

// checkCosign: cosign itself, where it is (make release-check), accepts image, chart,
// provenance and files, and refuses another identity.
func checkCosign(t *testing.T, at string, o options, who trusted) {
	t.Helper()
	program := cosignProgram(t)
	cosign := func(identity string, args ...string) ([]byte, error) {
		args = append(args, "--certificate-identity", identity, "--certificate-oidc-issuer", who.issuer, "--trusted-root", who.services.TrustedRoot)
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = o.out
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		return cmd.CombinedOutput()
	}
	for _, args := range [][]string{
		{"verify", "--allow-http-registry", at + "/team/controller:v1.2.3"},
		{"verify", "--allow-http-registry", at + "/team/charts/spokeshave:1.2.3"},
		{"verify-attestation", "--allow-http-registry", "--type", "slsaprovenance1", at + "/team/controller:v1.2.3"},
		{"verify-blob", "--bundle", sumsBundle, sumsFile},
		{"verify-blob-attestation", "--bundle", provenanceBundle, "--type", "slsaprovenance1", "CHANGELOG.md"},
	} {
		if out, err := cosign(who.identity, args...); err != nil {
			t.Errorf("cosign %v: %v\n%s", args, err, out)
		}
		if out, err := cosign(strings.Replace(who.identity, "acme", "fork", 1), args...); err == nil {
			t.Errorf("cosign %v accepts another identity:\n%s", args, out)
		}
	}
}
