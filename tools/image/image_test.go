package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

func make1(t *testing.T, dir, out string) []byte {
	t.Helper()
	r := request{
		source: dir, pkg: "./cmd/spokeshave-controller", version: "v9.9.9", out: out, progress: io.Discard,
		platforms: []platform{{"linux", "amd64"}, {"linux", "arm64"}},
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

func (i image) blob(d descriptor) []byte {
	i.t.Helper()
	body := i.files["blobs/"+strings.Replace(d.Digest, ":", "/", 1)].body
	if got := digest(body); got != d.Digest || int64(len(body)) != d.Size {
		i.t.Fatalf("blob %s: digest %s, %d bytes; the descriptor says %d bytes", d.Digest, got, len(body), d.Size)
	}
	return body
}

func (i image) decode(d descriptor, v any) {
	i.t.Helper()
	if err := json.Unmarshal(i.blob(d), v); err != nil {
		i.t.Fatal(err)
	}
}

func TestLayout(t *testing.T) {
	img := image{t, unpack(t, bytes.NewReader(make1(t, source(t), "dist/x.tar")))}
	if got := string(img.files["oci-layout"].body); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout = %s", got)
	}
	var entry, top index
	if err := json.Unmarshal(img.files["index.json"].body, &entry); err != nil {
		t.Fatal(err)
	}
	if len(entry.Manifests) != 1 || entry.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v9.9.9" {
		t.Fatalf("index.json = %+v, want one entry named v9.9.9", entry)
	}
	img.decode(entry.Manifests[0], &top)
	if len(top.Manifests) != 2 {
		t.Fatalf("%d platforms, want 2", len(top.Manifests))
	}
	binaries := map[string]bool{}
	for n, arch := range []string{"amd64", "arm64"} {
		d := top.Manifests[n]
		if d.Platform == nil || d.Platform.Architecture != arch || d.Platform.OS != "linux" {
			t.Errorf("manifest %d is for %+v, want linux/%s", n, d.Platform, arch)
		}
		files := img.platform(d, arch)
		binaries[string(files[entrypoint].body)] = true
	}
	if len(binaries) != 2 {
		t.Error("both platforms carry the same binary")
	}
	if want := 2 + 1 + 2*3 + 1; len(img.files) != want {
		t.Errorf("%d files in the layout, want %d: no blob is unused, the base layer is shared", len(img.files), want)
	}
}

// platform checks one image and returns its files.
func (i image) platform(d descriptor, arch string) map[string]entry {
	t := i.t
	t.Helper()
	var m manifest
	var c config
	i.decode(d, &m)
	i.decode(m.Config, &c)
	if c.Architecture != arch || c.OS != "linux" {
		t.Errorf("config is for %s/%s, want linux/%s", c.OS, c.Architecture, arch)
	}
	if c.Config.User != "65532:65532" || len(c.Config.Entrypoint) != 1 || c.Config.Entrypoint[0] != "/spokeshave-controller" {
		t.Errorf("config runs %v as %s", c.Config.Entrypoint, c.Config.User)
	}
	files := map[string]entry{}
	for n, l := range m.Layers {
		zr, err := gzip.NewReader(bytes.NewReader(i.blob(l)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(zr)
		if err != nil {
			t.Fatal(err)
		}
		if got := digest(plain); got != c.RootFS.DiffIDs[n] {
			t.Errorf("layer %d: diff id %s, config says %s", n, got, c.RootFS.DiffIDs[n])
		}
		for name, e := range unpack(t, bytes.NewReader(plain)) {
			files[name] = e
		}
	}
	for name, e := range files {
		want := int64(0o644)
		if e.header.Typeflag == tar.TypeDir || name == entrypoint {
			want = 0o755
		}
		if e.header.Mode != want || e.header.Uid != 0 || e.header.Gid != 0 || e.header.ModTime.Unix() != 0 {
			t.Errorf("%s: mode %o owner %d:%d time %s", name, e.header.Mode, e.header.Uid, e.header.Gid, e.header.ModTime)
		}
	}
	for _, name := range []string{"etc/passwd", "usr/share/doc/spokeshave/LICENSE", "usr/share/doc/spokeshave/NOTICE.catalog", "etc/ssl/certs/"} {
		if _, ok := files[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	if !bytes.HasPrefix(files[entrypoint].body, []byte("\x7fELF")) || !bytes.Contains(files[entrypoint].body, []byte("v9.9.9")) {
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

func TestRoots(t *testing.T) {
	subjects := map[string]bool{}
	for rest := roots(); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		subjects[c.Subject.CommonName] = true
	}
	for _, want := range []string{"Amazon Root CA 1", "Amazon Root CA 3", "ISRG Root X1"} {
		if !subjects[want] {
			t.Errorf("%s is missing among %d authorities", want, len(subjects))
		}
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
			request{source: dir, pkg: "./cmd/none", version: "v1", out: "x.tar", progress: io.Discard, platforms: []platform{{"linux", "amd64"}}},
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
