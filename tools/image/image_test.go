package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"spokeshave.dev/tools/release/oci"
)

// source makes a small module with the files that an image takes along.
func source(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range map[string]string{
		"go.mod":                               "module spokeshave.dev\n\ngo 1.26\n",
		"LICENSE":                              "a licence",
		"controller/cloud/catalog/data/NOTICE": "a notice",
		"controller/app/version.go":            "package app\n\nvar Version = \"dev\"\n",
		"cmd/spokeshave-controller/main.go": "package main\n\nimport \"spokeshave.dev/controller/app\"\n\n" +
			"func main() { println(app.Version) }\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func platforms() []v1.Platform {
	return []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
}

func make1(t *testing.T, dir, out string) []byte {
	t.Helper()
	r := request{
		source: dir, pkg: "./cmd/spokeshave-controller", version: "v9.9.9", out: out, progress: io.Discard,
		platforms: platforms(),
	}
	if err := build(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	tarball, err := os.ReadFile(filepath.Join(dir, out))
	if err != nil {
		t.Fatal(err)
	}
	return tarball
}

type entry struct {
	header *tar.Header
	body   []byte
}

func unpack(t *testing.T, r io.Reader) map[string]entry {
	t.Helper()
	out := map[string]entry{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = entry{h, body}
	}
}

// image is a layout read back, every digest and size checked on the way.
type image struct {
	t     *testing.T
	files map[string]entry
}

func (i image) blob(d v1.Descriptor) []byte {
	i.t.Helper()
	body := i.files["blobs/"+strings.Replace(d.Digest.String(), ":", "/", 1)].body
	if got := digest(i.t, body); got != d.Digest || int64(len(body)) != d.Size {
		i.t.Fatalf("blob %s: digest %s, %d bytes; the descriptor says %d bytes", d.Digest, got, len(body), d.Size)
	}
	return body
}

// decode checks the media type of a blob and decodes it.
func (i image) decode(d v1.Descriptor, want types.MediaType, v any) {
	i.t.Helper()
	if d.MediaType != want {
		i.t.Errorf("blob %s is %s, want %s", d.Digest, d.MediaType, want)
	}
	if err := json.Unmarshal(i.blob(d), v); err != nil {
		i.t.Fatal(err)
	}
}

func digest(t *testing.T, b []byte) v1.Hash {
	t.Helper()
	h, _, err := v1.SHA256(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLayout(t *testing.T) {
	img := image{t, unpack(t, bytes.NewReader(make1(t, source(t), "dist/x.tar")))}
	var version struct{ ImageLayoutVersion string }
	if err := json.Unmarshal(img.files["oci-layout"].body, &version); err != nil || version.ImageLayoutVersion != "1.0.0" {
		t.Errorf("oci-layout = %s", img.files["oci-layout"].body)
	}
	for name, e := range img.files {
		fixed(t, name, e.header, 0o644)
	}
	var entry, top v1.IndexManifest
	if err := json.Unmarshal(img.files["index.json"].body, &entry); err != nil {
		t.Fatal(err)
	}
	if len(entry.Manifests) != 1 || entry.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v9.9.9" {
		t.Fatalf("index.json = %+v, want one entry named v9.9.9", entry)
	}
	img.decode(entry.Manifests[0], types.OCIImageIndex, &top)
	if len(top.Manifests) != 2 || top.Annotations["org.opencontainers.image.version"] != "v9.9.9" {
		t.Fatalf("index = %+v, want 2 platforms and the version", top)
	}
	binaries := map[string]bool{}
	for n, arch := range []string{"amd64", "arm64"} {
		d := top.Manifests[n]
		if d.Platform == nil || d.Platform.Architecture != arch || d.Platform.OS != "linux" {
			t.Errorf("manifest %d is for %+v, want linux/%s", n, d.Platform, arch)
		}
		if d.ArtifactType != "" {
			t.Errorf("manifest %d is listed as an artifact of type %s, not as an image", n, d.ArtifactType)
		}
		files := img.platform(d, arch)
		binaries[string(files[oci.Entrypoint].body)] = true
	}
	if len(binaries) != 2 {
		t.Error("both platforms carry the same binary")
	}
	if want := 2 + 1 + 2*3 + 1; len(img.files) != want {
		t.Errorf("%d files in the layout, want %d: no blob is unused, the base layer is shared", len(img.files), want)
	}
}

// fixed checks what must not depend on the machine or the time of the build.
func fixed(t *testing.T, name string, h *tar.Header, mode int64) {
	t.Helper()
	if h.Mode != mode || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.ModTime.Unix() != 0 {
		t.Errorf("%s: mode %o, want %o; owner %d:%d (%s:%s), time %s", name, h.Mode, mode, h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime)
	}
}

// platform checks one image and returns its files.
func (i image) platform(d v1.Descriptor, arch string) map[string]entry {
	t := i.t
	t.Helper()
	var m v1.Manifest
	var c v1.ConfigFile
	i.decode(d, types.OCIManifestSchema1, &m)
	i.decode(m.Config, types.OCIConfigJSON, &c)
	if c.Architecture != arch || c.OS != "linux" {
		t.Errorf("config is for %s/%s, want linux/%s", c.OS, c.Architecture, arch)
	}
	if c.Config.User != "65532:65532" || len(c.Config.Entrypoint) != 1 || c.Config.Entrypoint[0] != "/spokeshave-controller" {
		t.Errorf("config runs %v as %s", c.Config.Entrypoint, c.Config.User)
	}
	if c.Created.Unix() != 0 || len(c.History) != 2 || c.History[0].Created.Unix() != 0 || c.History[1].Created.Unix() != 0 {
		t.Errorf("config was created at %s with the history %+v, want the epoch throughout and 2 layers", c.Created, c.History)
	}
	if len(m.Layers) != 2 || len(c.RootFS.DiffIDs) != 2 || c.RootFS.Type != "layers" {
		t.Fatalf("%d layers and the file system %+v, want 2 layers", len(m.Layers), c.RootFS)
	}
	files := map[string]entry{}
	for n, l := range m.Layers {
		if l.MediaType != types.OCILayer {
			t.Errorf("layer %d is %s", n, l.MediaType)
		}
		zr, err := gzip.NewReader(bytes.NewReader(i.blob(l)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(zr)
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(t, plain); got != c.RootFS.DiffIDs[n] {
			t.Errorf("layer %d: diff id %s, config says %s", n, got, c.RootFS.DiffIDs[n])
		}
		for name, e := range unpack(t, bytes.NewReader(plain)) {
			files[name] = e
		}
	}
	for name, e := range files {
		want := int64(0o644)
		if e.header.Typeflag == tar.TypeDir || name == oci.Entrypoint {
			want = 0o755
		}
		fixed(t, name, e.header, want)
	}
	for _, name := range []string{"etc/passwd", "usr/share/doc/spokeshave/LICENSE", "usr/share/doc/spokeshave/NOTICE.catalog", "etc/ssl/certs/"} {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if !bytes.HasPrefix(files[oci.Entrypoint].body, []byte("\x7fELF")) || !bytes.Contains(files[oci.Entrypoint].body, []byte("v9.9.9")) {
		t.Error("the program is no ELF binary stamped with the version")
	}
	return files
}

// TestReproducible builds from two copies of the source in different folders.
func TestReproducible(t *testing.T) {
	a, b := make1(t, source(t), "x.tar"), make1(t, source(t), "y.tar")
	if !bytes.Equal(a, b) {
		t.Error("two builds of one source differ")
	}
}

func TestRefusals(t *testing.T) {
	dir := source(t)
	tests := map[string]struct {
		reason string
		r      request
		want   string
	}{
		"nothing said": {"version and target are required", request{}, "-version"},
		"no program": {
			"a package that does not build names itself and says why",
			request{source: dir, pkg: "./cmd/none", version: "v1", out: "x.tar", progress: io.Discard, platforms: platforms()[:1]},
			"build ./cmd/none for linux/amd64",
		},
		"no source": {"what is missing is named", request{source: t.TempDir(), version: "v1", out: "x.tar", progress: io.Discard}, "read "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := build(t.Context(), tt.r); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want an error with %q", tt.reason, err, tt.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "x.tar")); err == nil {
		t.Error("a failed build left a file")
	}
}
