package client

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// TestCABundle: certificates of the file that AWS_CA_BUNDLE names are trusted, as a proxy that
// inspects TLS needs it, and calls keep the bounds of time that depend on what they ask for.
func TestCABundle(t *testing.T) {
	served := 0
	endpoint := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write([]byte(`<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservationSet/></DescribeInstancesResponse>`))
	}))
	t.Cleanup(endpoint.Close)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: endpoint.Certificate().Raw})
	if err := os.WriteFile(bundle, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason string
		bundle string
		works  bool
	}{
		"with the bundle":    {"the endpoint's certificate is in it", bundle, true},
		"without the bundle": {"nobody vouches for the endpoint", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range map[string]string{
				"AWS_CA_BUNDLE": c.bundle, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_MAX_ATTEMPTS": "1",
				"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
			} {
				t.Setenv(key, value)
			}
			loaded, err := Load(t.Context(), Location{Region: "us-west-2", Endpoint: endpoint.URL})
			if err != nil {
				t.Fatal(err)
			}
			before := served
			_, err = ec2.NewFromConfig(loaded, func(o *ec2.Options) { o.RetryMaxAttempts = 1 }).DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
			switch {
			case c.works && (err != nil || served != before+1):
				t.Errorf("%s: %d requests, %v", c.reason, served-before, err)
			case !c.works && (err == nil || !strings.Contains(err.Error(), "certificate") || served != before):
				t.Errorf("%s: %d requests, %v; want an error about the certificate", c.reason, served-before, err)
			}
			tries, ok := loaded.HTTPClient.(timedTries)
			if !ok {
				t.Fatalf("calls go through %T, which does not bound them by what they ask for", loaded.HTTPClient)
			}
			if own := unbounded(t, tries); own != 0 {
				t.Errorf("the client itself ends calls after %s: a launch of many instances would be cut", own)
			}
		})
	}
}

// unbounded is the timeout of the HTTP client under the bounds of calls.
func unbounded(t *testing.T, tries timedTries) time.Duration {
	t.Helper()
	bodies, ok := tries.inner.(plainBodies)
	if !ok {
		t.Fatalf("requests go through %T", tries.inner)
	}
	own, ok := bodies.inner.(interface{ GetTimeout() time.Duration })
	if !ok {
		t.Fatalf("the client is a %T", bodies.inner)
	}
	return own.GetTimeout()
}
