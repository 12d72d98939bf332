package sign

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/tools/release/sign/sigstoretest"
)

// environment returns a reader of variables.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

// keyless returns a signer for the services of a test.
func keyless(t *testing.T, s *sigstoretest.Sigstore) *Keyless {
	t.Helper()
	k, err := NewKeyless(t.Context(), services(s), environment(map[string]string{tokenVariable: sigstoretest.Token()}), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func services(s *sigstoretest.Sigstore) Services {
	return Services{SigningConfig: s.SigningConfig, TrustedRoot: s.TrustedRoot}
}

// TestKeyless: what an identity has signed is accepted as that of this identity by this
// issuer, and nothing else is.
func TestKeyless(t *testing.T) {
	s := sigstoretest.Start(t)
	k := keyless(t, s)
	data, statement := []byte("content"), []byte(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"x","digest":{"sha256":"ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"}}],"predicateType":"x","predicate":{}}`)
	blob, err := k.Blob(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	stated, err := k.Statement(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if s.Certificates != 1 || s.Entries != 2 {
		t.Errorf("%d certificates and %d entries in the log, want one certificate for two signatures", s.Certificates, s.Entries)
	}
	if who, by, err := Signer(blob); who != sigstoretest.Identity || by != sigstoretest.Issuer || err != nil {
		t.Errorf("the bundle is signed by %q of %q, %v", who, by, err)
	}

	other := sigstoretest.Start(t)
	tests := map[string]struct {
		reason           string
		identity, issuer string
		services         Services
		data             []byte
		want             string
	}{
		"as signed":           {"", sigstoretest.Identity, sigstoretest.Issuer, services(s), data, ""},
		"another identity":    {"a workflow of a fork has the same issuer", "https://forge.example/fork/spokeshave/.github/workflows/release.yml@refs/tags/v1.2.3", sigstoretest.Issuer, services(s), data, "expected SAN value"},
		"part of an identity": {"a prefix is somebody else", strings.TrimSuffix(sigstoretest.Identity, ".3"), sigstoretest.Issuer, services(s), data, "expected SAN value"},
		"another issuer":      {"anybody can run an issuer that vouches for the name", sigstoretest.Identity, "https://token.other.example", services(s), data, "expected issuer value"},
		"another authority":   {"the certificate is of none that is trusted", sigstoretest.Identity, sigstoretest.Issuer, services(other), data, ErrSignature.Error()},
		"changed":             {"", sigstoretest.Identity, sigstoretest.Issuer, services(s), []byte("other"), ErrSignature.Error()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			i, err := NewIdentity(tc.identity, tc.issuer, tc.services)
			if err != nil {
				t.Fatal(err)
			}
			err = i.VerifyBlob(blob, tc.data)
			if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, ErrSignature) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			got, err := i.Open(stated)
			if good := bytes.Equal(tc.data, data) && tc.want == ""; good && (err != nil || !bytes.Equal(got, statement)) {
				t.Errorf("the statement is %s, %v", got, err)
			} else if !good && name != "changed" && !errors.Is(err, ErrSignature) {
				t.Errorf("%s: the statement passes: %v", tc.reason, err)
			}
		})
	}
}

// TestForgedBundles: the parts of a bundle that vouch for it cannot be left out or changed.
func TestForgedBundles(t *testing.T) {
	s := sigstoretest.Start(t)
	blob, err := keyless(t, s).Blob(t.Context(), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := keyless(t, s).Blob(t.Context(), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	i, err := NewIdentity(sigstoretest.Identity, sigstoretest.Issuer, services(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := i.VerifyBlob(blob, []byte("content")); err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(t *testing.T) []byte{
		"no entry in the log": func(t *testing.T) []byte { return without(t, blob, "tlogEntries") },
		"no time stamp and no other time": func(t *testing.T) []byte {
			return without(t, without(t, blob, "timestampVerificationData"), "tlogEntries")
		},
		"the entry of another signature": func(t *testing.T) []byte { return exchanged(t, blob, second, "tlogEntries") },
		"the certificate of another":     func(t *testing.T) []byte { return exchanged(t, blob, second, "certificate") },
		"no bundle":                      func(*testing.T) []byte { return []byte("{}") },
	} {
		t.Run(name, func(t *testing.T) {
			if err := i.VerifyBlob(forge(t), []byte("content")); err == nil {
				t.Error("the bundle passes")
			}
		})
	}
}

// TestRefusedIdentity: whoever cannot sign is told why, before or when the services say so.
func TestRefusedIdentity(t *testing.T) {
	s := sigstoretest.Start(t)
	requests := httptest.NewServer(http.HandlerFunc(sigstoretest.RequestServer))
	defer requests.Close()
	tests := map[string]struct {
		reason string
		env    map[string]string
		want   string
	}{
		"a token":            {"", map[string]string{tokenVariable: sigstoretest.Token()}, ""},
		"a workflow":         {"", map[string]string{requestURL: requests.URL + "/token?api-version=2.0", requestPassword: "job"}, ""},
		"nothing":            {"", nil, "give the workflow's job the permission id-token: write"},
		"half of a workflow": {"the runner sets both", map[string]string{requestURL: requests.URL}, ErrNoIdentity.Error()},
		"a job that may not": {"", map[string]string{requestURL: requests.URL + "/token", requestPassword: "other"}, "403 Forbidden without a token"},
		"a token of another": {"its issuer is not known to the authority", map[string]string{tokenVariable: "e30.eyJzdWIiOiJ4IiwiaXNzIjoieSJ9.x"}, "the token is not valid"},
		"no token at all":    {"", map[string]string{tokenVariable: "secret"}, "sign with an identity"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k, err := NewKeyless(t.Context(), services(s), environment(tc.env), time.Now())
			if err == nil {
				_, err = k.Blob(t.Context(), []byte("content"))
			}
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the message has the token: %v", err)
			}
		})
	}
	for _, half := range [][2]string{{"", sigstoretest.Issuer}, {sigstoretest.Identity, ""}} {
		if _, err := NewIdentity(half[0], half[1], services(s)); err == nil || !strings.Contains(err.Error(), "say both") {
			t.Errorf("identity %q of issuer %q: %v", half[0], half[1], err)
		}
	}
}

// material reads the part of a bundle that vouches for its signature.
func material(t *testing.T, text []byte) (whole map[string]any, part map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	part, ok := whole["verificationMaterial"].(map[string]any)
	if !ok {
		t.Fatalf("the bundle has no material: %s", text)
	}
	return whole, part
}

// without returns a bundle that lacks a part.
func without(t *testing.T, text []byte, name string) []byte {
	t.Helper()
	whole, part := material(t, text)
	delete(part, name)
	return written(t, whole)
}

// exchanged returns a bundle with a part of another.
func exchanged(t *testing.T, text, from []byte, name string) []byte {
	t.Helper()
	whole, part := material(t, text)
	_, other := material(t, from)
	if part[name] == nil || other[name] == nil {
		t.Fatalf("the bundles lack %s", name)
	}
	part[name] = other[name]
	return written(t, whole)
}

func written(t *testing.T, whole map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
