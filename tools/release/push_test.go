package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/registry"
	"spokeshave.dev/tools/release/sign"
)

// host starts a registry in memory and returns its address. spoil, if there is one, changes
// what it answers with.
func host(t *testing.T, spoil func(r *http.Request, body []byte) []byte) string {
	t.Helper()
	inner := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if spoil == nil || r.Method != http.MethodGet {
			inner.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, r)
		body := spoil(r, answer.Body.Bytes())
		for key, values := range answer.Header() {
			w.Header()[key] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // no credentials of whoever runs the test
	return strings.TrimPrefix(server.URL, "http://")
}

// released builds a small signed release for a registry.
func released(t *testing.T, at string) (o options, public string) {
	t.Helper()
	public, private := ecdsaKeys(t)
	o = small(t, checkout(t, tree()))
	o.archives, o.registry, o.key = o.archives[:1], at+"/team", private
	make1(t, o)
	return o, public
}

// TestPush: a release is in the registry afterwards as it was built, and pushing it again
// changes nothing. A second release of the same version is refused.
func TestPush(t *testing.T) {
	at := host(t, nil)
	o, public := released(t, at)
	client := &registry.Client{Progress: io.Discard}
	for range 2 {
		if err := push(t.Context(), client, o.out, trusted{key: public}); err != nil {
			t.Fatal(err)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := remote.Image(tag(t, at+"/team/controller:v1.2.3"), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil || config.Architecture != arch || config.Config.Entrypoint[0] != "/spokeshave-controller" || !config.Created.Equal(committed()) {
			t.Errorf("the image for %s is configured as %+v, %v", arch, config, err)
		}
		if files := inImage(t, img); !strings.Contains(files["usr/share/doc/spokeshave/THIRD_PARTY_NOTICES"], "Linked was made by somebody.") {
			t.Error("the image has no notices")
		}
	}

	dir := o.source
	record(t, dir, "solver: another commit")
	again := o
	again.out = filepath.Join(t.TempDir(), "again")
	make1(t, again)
	if err := push(t.Context(), client, again.out, trusted{key: public}); err == nil || !strings.Contains(err.Error(), "a version is released once") {
		t.Errorf("another release of the same version: %v", err)
	}
	if err := withLayout(o.out, func(top v1.ImageIndex) error { return client.Verify(t.Context(), top, sign.Trust{}) }); err != nil {
		t.Errorf("after the refusal the registry has not what it had: %v", err)
	}
}

func tag(t *testing.T, at string) name.Tag {
	t.Helper()
	out, err := name.NewTag(at, name.StrictValidation)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// inImage returns the files of an image by name.
func inImage(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range layers {
		body, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for tr := tar.NewReader(body); ; {
			h, err := tr.Next()
			if err != nil {
				break
			}
			text, err := io.ReadAll(tr)
			if err != nil {
				t.Fatal(err)
			}
			out[h.Name] = string(text)
		}
	}
	return out
}

// TestUnpushable: a release that was built without a registry cannot be pushed.
func TestUnpushable(t *testing.T) {
	o := small(t, checkout(t, tree()))
	o.images, o.archives = o.images[:1], o.archives[:1]
	make1(t, o)
	err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, trusted{})
	if err == nil || !strings.Contains(err.Error(), "was the release built with REGISTRY?") {
		t.Errorf("got %v", err)
	}
}

// TestVerifyRegistry: what a registry has changed, lost or never had is found.
func TestVerifyRegistry(t *testing.T) {
	var spoil func(r *http.Request, body []byte) []byte
	at := host(t, func(r *http.Request, body []byte) []byte {
		if spoil == nil {
			return body
		}
		return spoil(r, body)
	})
	o, public := released(t, at)
	client := &registry.Client{Progress: io.Discard}
	if err := push(t.Context(), client, o.out, trusted{key: public}); err != nil {
		t.Fatal(err)
	}
	other, _ := ecdsaKeys(t)
	remove := func(tagged string) func(*testing.T) {
		return func(t *testing.T) {
			if err := remote.Delete(tag(t, tagged)); err != nil {
				t.Fatal(err)
			}
		}
	}
	manifest, err := remote.Get(tag(t, at+"/team/controller:v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	// In this order: the last ones remove what the others need.
	tests := []struct {
		name, key string
		change    func(t *testing.T)
		want      string
	}{
		{"nothing", public, func(*testing.T) {}, ""},
		{"another key", other, func(*testing.T) {}, "verify the signature of sha256:"},
		{"a layer with other bytes", "", func(*testing.T) {
			spoil = func(r *http.Request, body []byte) []byte {
				if strings.Contains(r.URL.Path, "/blobs/") && len(body) > 500_000 {
					body = bytes.Clone(body)
					body[1000] ^= 1
				}
				return body
			}
		}, "error verifying sha256 checksum"},
		{"a manifest with other bytes", "", func(*testing.T) {
			spoil = func(r *http.Request, body []byte) []byte {
				if strings.Contains(r.URL.Path, "/manifests/sha256:") {
					return bytes.Replace(body, []byte(`"schemaVersion":2`), []byte(`"schemaVersion":3`), 1)
				}
				return body
			}
		}, "manifest digest:"},
		{"a tag moved", "", func(t *testing.T) {
			signature, err := remote.Get(tag(t, at+"/team/controller:"+oci.CosignTag(manifest.Digest, oci.SignatureTag)))
			if err != nil {
				t.Fatal(err)
			}
			other, err := signature.Image()
			if err != nil {
				t.Fatal(err)
			}
			if err := remote.Write(tag(t, at+"/team/charts/spokeshave:1.2.3"), other); err != nil {
				t.Fatal(err)
			}
		}, "charts/spokeshave:1.2.3: the registry has it as"},
		{"no signature", public, remove(at + "/team/controller:" + oci.CosignTag(manifest.Digest, oci.SignatureTag)), "not signed"},
		{"no image", "", remove(at + "/team/controller:v1.2.3"), "the registry does not have it"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			spoil = nil
			tc.change(t)
			key, err := trusted{key: tc.key}.read()
			if err != nil {
				t.Fatal(err)
			}
			err = withLayout(o.out, func(top v1.ImageIndex) error { return client.Verify(t.Context(), top, key) })
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// TestHelmPulls: Helm itself, where it is, gets the chart from the registry and renders it
// with the image that was released with it.
func TestHelmPulls(t *testing.T) {
	helm := helmProgram(t)
	at := host(t, nil)
	o, public := released(t, at)
	if err := push(t.Context(), &registry.Client{Progress: io.Discard}, o.out, trusted{key: public}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), helm, "template", "x", "oci://"+at+"/team/charts/spokeshave", "--version", "1.2.3", "--plain-http")
	cmd.Env = []string{"HOME=" + dir, "HELM_CACHE_HOME=" + dir, "HELM_CONFIG_HOME=" + dir, "HELM_DATA_HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	manifest, err := remote.Head(tag(t, at+"/team/controller:v1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "image: " + at + "/team/controller@" + manifest.Digest.String(); !strings.Contains(string(out), want) {
		t.Errorf("the chart does not render %q:\n%s", want, out)
	}
}

// helmProgram is Helm: that of the local control plane if it has been built, else that of the PATH.
func helmProgram(t *testing.T) string {
	t.Helper()
	if cache, err := os.UserCacheDir(); err == nil {
		if found, err := filepath.Glob(filepath.Join(cache, "spokeshave", "controlplane", "*", "helm")); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	found, err := exec.LookPath("helm")
	if err != nil {
		t.Skip("Helm is neither in the cache of make controlplane nor in the PATH")
	}
	return found
}

// TestLayoutIsReadByOthers: the file with the images is an OCI layout by its specification.
func TestLayoutIsReadByOthers(t *testing.T) {
	o, _ := released(t, "registry.example")
	path, err := layoutFile(o.out)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files := map[string][]byte{}
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if err != nil {
			break
		}
		if files[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	// image and chart; each of them and each platform's image has a signature and attestations
	if want := 2 + 2*4; len(index.Manifests) != want {
		t.Errorf("%d entries, want %d", len(index.Manifests), want)
	}
	chart := index.Manifests[1]
	var m v1.Manifest
	if err := json.Unmarshal(files["blobs/sha256/"+chart.Digest.Hex], &m); err != nil {
		t.Fatal(err)
	}
	if m.Config.MediaType != "application/vnd.cncf.helm.config.v1+json" || len(m.Layers) != 1 || m.Layers[0].MediaType != "application/vnd.cncf.helm.chart.content.v1.tar+gzip" {
		t.Errorf("the chart's manifest is %+v", m)
	}
	if zr, err := gzip.NewReader(bytes.NewReader(files["blobs/sha256/"+m.Layers[0].Digest.Hex])); err != nil {
		t.Errorf("the chart is no tar.gz: %v", err)
	} else if err := zr.Close(); err != nil {
		t.Error(err)
	}
}
