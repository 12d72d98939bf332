package aws_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/aws"
)

// bare clears what the environment says of AWS, and keeps to it.
func bare(t *testing.T) {
	t.Helper()
	for _, key := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	} {
		t.Setenv(key, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
}

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	listener := httptest.NewServer(answer)
	t.Cleanup(listener.Close)
	return listener.URL
}

// signer answers as the simulated EC2 does, and keeps the key that the last request was
// signed with.
func (w *simulatedEC2) signer(t *testing.T) (url string, key *atomic.Value) {
	t.Helper()
	key = &atomic.Value{}
	return serve(t, func(out http.ResponseWriter, in *http.Request) {
		_, credential, _ := strings.Cut(in.Header.Get("Authorization"), "Credential=")
		id, _, _ := strings.Cut(credential, "/")
		key.Store(id)
		w.server.ServeHTTP(out, in)
	}), key
}

func tokenFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("projected"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The two ways in which EKS gives a pod a role: a web identity that STS exchanges
// (IRSA), and the agent on the node (Pod Identity).
// https://docs.aws.amazon.com/eks/latest/userguide/service-accounts.html
func TestCredentialsOfAPod(t *testing.T) {
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for name, set := range map[string]func(t *testing.T) (key string){
		"IRSA": func(t *testing.T) string {
			sts := serve(t, func(out http.ResponseWriter, in *http.Request) {
				if in.FormValue("Action") != "AssumeRoleWithWebIdentity" || in.FormValue("WebIdentityToken") != "projected" || in.FormValue("RoleArn") != "arn:aws:iam::111122223333:role/controller" {
					http.Error(out, "not asked for", http.StatusBadRequest)
					return
				}
				_, _ = fmt.Fprintf(out, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAIRSA</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, expires)
			})
			t.Setenv("AWS_ENDPOINT_URL_STS", sts)
			t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::111122223333:role/controller")
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", tokenFile(t))
			return "ASIAIRSA"
		},
		"Pod Identity": func(t *testing.T) string {
			agent := serve(t, func(out http.ResponseWriter, in *http.Request) {
				if in.Header.Get("Authorization") != "projected" {
					http.Error(out, "no token", http.StatusUnauthorized)
					return
				}
				_, _ = fmt.Fprintf(out, `{"AccessKeyId":"ASIAPOD","SecretAccessKey":"s","Token":"t","AccountId":"111122223333","Expiration":%q}`, expires)
			})
			t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent+"/v1/credentials")
			t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", tokenFile(t))
			return "ASIAPOD"
		},
	} {
		t.Run(name, func(t *testing.T) {
			bare(t)
			w := newEC2Of(t, "m7i.")
			url, signed := w.signer(t)
			t.Setenv("AWS_ENDPOINT_URL_EC2", url)
			want := set(t)
			p, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", Region: region, Classes: noClasses, Clock: w.clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.List(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := signed.Load(); got != want {
				t.Errorf("the request is signed with %v, want the role's %s", got, want)
			}
		})
	}
}

// A controller without credentials, or whose role does not trust its service
// account, says so, and not that AWS does not answer or that a permission lacks.
func TestNoCredentials(t *testing.T) {
	for name, set := range map[string]func(t *testing.T){
		"none": func(*testing.T) {},
		"no trust": func(t *testing.T) {
			t.Setenv("AWS_ENDPOINT_URL_STS", serve(t, func(out http.ResponseWriter, _ *http.Request) {
				out.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprint(out, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>`)
			}))
			t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::111122223333:role/controller")
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", tokenFile(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			bare(t)
			w := newEC2Of(t, "m7i.")
			set(t)
			p, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", Region: region, Endpoint: w.url, Classes: noClasses, Clock: w.clock.Now})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.List(t.Context())
			if err == nil || !strings.Contains(err.Error(), "no credentials of AWS") || strings.Contains(err.Error(), "allow this action") {
				t.Errorf("%v, want advice about credentials", err)
			}
		})
	}
}

// Without a region in the environment it is that of the instance.
func TestRegionFromInstanceMetadata(t *testing.T) {
	bare(t)
	imds := serve(t, func(out http.ResponseWriter, in *http.Request) {
		switch in.URL.Path {
		case "/latest/api/token":
			out.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			_, _ = fmt.Fprint(out, "session")
		case "/latest/dynamic/instance-identity/document":
			_, _ = fmt.Fprint(out, `{"region":"eu-central-1","instanceId":"i-0123456789abcdef0"}`)
		default:
			http.NotFound(out, in)
		}
	})
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", imds)
	w := newEC2Of(t, "m7i.")
	p, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", Classes: noClasses, Clock: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	if p.Region() != "eu-central-1" {
		t.Errorf("region %s, want the instance's", p.Region())
	}
}
