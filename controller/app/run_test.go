package app

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
)

// TestAPIServer: the version comes from the API server's own description, and the CA
// certificate from the file that a pod gets. Nodes are configured with both.
func TestAPIServer(t *testing.T) {
	for said, want := range map[string]string{
		`{"major":"1","minor":"36"}`:  "1.36",
		`{"major":"1","minor":"36+"}`: "1.36", // EKS and others write a plus
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
			if in.URL.Path != "/version" {
				http.NotFound(out, in)
				return
			}
			_, _ = fmt.Fprint(out, said)
		}))
		t.Cleanup(server.Close)
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		file := filepath.Join(t.TempDir(), "ca.crt")
		if err := os.WriteFile(file, ca, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAFile: file}}
		version, told, err := apiServer(cfg)
		if err != nil || version != want || told != base64.StdEncoding.EncodeToString(ca) {
			t.Errorf("%s: version %q, certificate %q, %v; want %q and that of the file", said, version, told, err, want)
		}
		server.Close()
		if _, _, err := apiServer(cfg); err == nil {
			t.Error("nobody answers, and there is no error")
		}
	}
}
