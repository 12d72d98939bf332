package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	attestation "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/tools/release/sign"
)

// keys writes a new pair of keys into files.
func keys(t *testing.T, public, private any) (publicFile, privateFile string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	publicFile = write("release.pub", "PUBLIC KEY", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(private)
	return publicFile, write("release.key", "PRIVATE KEY", der, err)
}

func ecdsaKeys(t *testing.T) (publicFile, privateFile string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys(t, k.Public(), k)
}

// untar returns the files of a tar.gz by name, and checks that none tells when or by whom it
// was packed.
func untar(t *testing.T, archive []byte, at time.Time) map[string]string {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	if !zr.ModTime.IsZero() || zr.Name != "" {
		t.Errorf("the archive says when it was made: %v %q", zr.ModTime, zr.Name)
	}
	out := map[string]string{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(at) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s is of %d:%d (%s:%s) at %s", h.Name, h.Uid, h.Gid, h.Uname, h.Gname, h.ModTime)
		}
		if want := map[bool]int64{true: 0o755, false: 0o644}[h.Name == "spokeshave"]; h.Mode != want {
			t.Errorf("%s has the mode %o, want %o", h.Name, h.Mode, want)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(body)
	}
}

// TestRelease: what a release consists of, and that another build of the same commit, in
// another folder, has the same bytes, signatures included.
func TestRelease(t *testing.T) {
	_, private := ecdsaKeys(t)
	o := small(t, checkout(t, tree()))
	o.registry, o.key, o.downloads = "registry.example/team", private, "https://files.example/v1.2.3/"
	files := make1(t, o)

	again := o
	again.source, again.out = checkout(t, tree()), filepath.Join(t.TempDir(), "elsewhere")
	for name, body := range make1(t, again) {
		if !bytes.Equal(files[name], body) {
			t.Errorf("%s differs between two builds", name)
		}
	}

	want := []string{
		"CHANGELOG.md", "SHA256SUMS", "SHA256SUMS.sig", "THIRD_PARTY_NOTICES", "provenance.intoto.jsonl", "spokeshave-1.2.3.tgz",
		"spokeshave-controller-v1.2.3-linux-amd64.cdx.json", "spokeshave-controller-v1.2.3-linux-arm64.cdx.json",
		"spokeshave-v1.2.3-oci.tar", "spokeshave.krew.yaml",
	}
	for _, platform := range []string{"darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64"} {
		want = append(want, "spokeshave-v1.2.3-"+platform+".cdx.json", "spokeshave-v1.2.3-"+platform+".tar.gz")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	t.Run("archives", func(t *testing.T) { checkArchives(t, files) })
	t.Run("krew", func(t *testing.T) { checkKrew(t, files) })
	t.Run("SBOM", func(t *testing.T) { checkSBOMs(t, files) })
	t.Run("chart", func(t *testing.T) { checkChart(t, files) })
	t.Run("provenance", func(t *testing.T) { checkProvenance(t, files, git(t, o.source, "rev-parse", "HEAD")) })
}

func checkArchives(t *testing.T, files map[string][]byte) {
	t.Helper()
	magic := map[string]string{"linux": "\x7fELF", "darwin": "\xcf\xfa\xed\xfe"}
	programs := map[string]bool{}
	for _, platform := range archivePlatforms() {
		got := untar(t, files["spokeshave-v1.2.3-"+platform.OS+"-"+platform.Architecture+".tar.gz"], committed())
		program := got["spokeshave"]
		if !strings.HasPrefix(program, magic[platform.OS]) || !strings.Contains(program, "v1.2.3") || programs[program] {
			t.Errorf("%s: the program is none of this platform, or lacks the version", platform)
		}
		programs[program] = true
		if !strings.Contains(got["THIRD_PARTY_NOTICES"], "Linked was made by somebody.") || got["LICENSE"] != "a licence\n" || got["NOTICE.catalog"] != "a notice\n" {
			t.Errorf("%s: licence or notices are missing", platform)
		}
		for shell, name := range map[string]string{"bash": "spokeshave.bash", "fish": "spokeshave.fish", "zsh": "_spokeshave"} {
			if got["completions/"+name] != "completion for "+shell+"linkedv1.2.3" {
				t.Errorf("%s: completion for %s: %q", platform, shell, got["completions/"+name])
			}
		}
		root, top := got["man/man1/spokeshave.1"], got["man/man1/spokeshave-top.1"]
		if !strings.HasPrefix(root, ".nh\n.TH \"SPOKESHAVE\" \"1\" \"Mar 2026\" \"Spokeshave v1.2.3\"") || !strings.Contains(root, "first   one") || !strings.Contains(top, `\fB-o\fP, \fB--output\fP="table"`) {
			t.Errorf("%s: man pages\n%s\n%s", platform, root, top)
		}
		if len(got) != 9 {
			t.Errorf("%s: %d files: %v", platform, len(got), slices.Sorted(maps.Keys(got)))
		}
	}
}

func checkKrew(t *testing.T, files map[string][]byte) {
	t.Helper()
	var plugin krewPlugin
	if err := yaml.UnmarshalStrict(files["spokeshave.krew.yaml"], &plugin); err != nil {
		t.Fatal(err)
	}
	if plugin.Spec.Version != "v1.2.3" || len(plugin.Spec.Platforms) != 4 || plugin.Spec.ShortDescription == "" || len(plugin.Spec.ShortDescription) > 50 {
		t.Errorf("%+v", plugin)
	}
	for _, p := range plugin.Spec.Platforms {
		name := strings.TrimPrefix(p.URI, "https://files.example/v1.2.3/")
		if !strings.Contains(string(files[sumsFile]), p.SHA256+"  "+name+"\n") || files[name] == nil {
			t.Errorf("%s with the digest %s is no file of the release", p.URI, p.SHA256)
		}
		inside := untar(t, files[name], committed())
		for _, f := range p.Files {
			if inside[f.From] == "" {
				t.Errorf("%s has no %s", name, f.From)
			}
		}
		if labels := p.Selector.MatchLabels; !strings.Contains(name, labels["os"]+"-"+labels["arch"]) || p.Bin != "spokeshave" {
			t.Errorf("%s is for %v, and runs %s", name, labels, p.Bin)
		}
	}
}

func checkSBOMs(t *testing.T, files map[string][]byte) {
	t.Helper()
	for _, name := range []string{"spokeshave-controller-v1.2.3-linux-arm64.cdx.json", "spokeshave-v1.2.3-darwin-arm64.cdx.json"} {
		var bom cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(files[name]), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, bom.Metadata.Component.Name+"-v1.2.3-") || bom.Metadata.Component.Version != "v1.2.3" || bom.Metadata.Timestamp != "2026-03-11T10:00:00Z" {
			t.Errorf("%s is about %+v at %s", name, bom.Metadata.Component, bom.Metadata.Timestamp)
		}
		licences := map[string]string{}
		for _, c := range *bom.Components {
			licences[c.Name] = (*c.Licenses)[0].License.ID
		}
		if diff := cmp.Diff(map[string]string{"std": "BSD-3-Clause", "example.com/linked": "MIT"}, licences); diff != "" {
			t.Errorf("%s: components (-want +got):\n%s", name, diff)
		}
	}
}

func checkChart(t *testing.T, files map[string][]byte) {
	t.Helper()
	got := untar(t, files["spokeshave-1.2.3.tgz"], committed())
	var meta struct {
		Version, AppVersion string
		Annotations         map[string]string
	}
	if err := yaml.Unmarshal([]byte(got["spokeshave/Chart.yaml"]), &meta); err != nil {
		t.Fatal(err)
	}
	if meta.Version != "1.2.3" || meta.AppVersion != "v1.2.3" || meta.Annotations["spokeshave.dev/image-repository"] != "registry.example/team/controller" ||
		!strings.HasPrefix(meta.Annotations["spokeshave.dev/image-digest"], "sha256:") {
		t.Errorf("Chart.yaml %+v", meta)
	}
	if got["spokeshave/values.yaml"] != tree()["charts/spokeshave/values.yaml"] || got["spokeshave/left-out.bak"] != "" || len(got) != 4 {
		t.Errorf("files %v", slices.Sorted(maps.Keys(got)))
	}
}

// checkProvenance reads the statement with the types of in-toto.
func checkProvenance(t *testing.T, files map[string][]byte, commit string) {
	t.Helper()
	var envelope struct {
		PayloadType string
		Payload     []byte
	}
	if err := json.Unmarshal(files[provenanceFile], &envelope); err != nil {
		t.Fatal(err)
	}
	var statement attestation.Statement
	if err := protojson.Unmarshal(envelope.Payload, &statement); err != nil {
		t.Fatal(err)
	}
	if err := statement.Validate(); err != nil {
		t.Errorf("the statement is none of in-toto: %v", err)
	}
	for _, s := range statement.Subject {
		if err := s.Validate(); err != nil {
			t.Errorf("subject %s: %v", s.Name, err)
		}
	}
	definition := statement.Predicate.Fields["buildDefinition"].GetStructValue().Fields
	made := definition["resolvedDependencies"].GetListValue().Values[0].GetStructValue().Fields
	if made["uri"].GetStringValue() != "git+https://source.example/x" || made["digest"].GetStructValue().Fields["gitCommit"].GetStringValue() != commit {
		t.Errorf("made of %v, want the commit %s", made, commit)
	}
	if given := definition["externalParameters"].GetStructValue().Fields; given["version"].GetStringValue() != "v1.2.3" || given["registry"].GetStringValue() != "registry.example/team" {
		t.Errorf("made with %v", given)
	}
}

// TestUnsigned: without key, registry and downloads there is a release that says less, and
// that cannot be taken for a signed one.
func TestUnsigned(t *testing.T) {
	public, _ := ecdsaKeys(t)
	o := small(t, checkout(t, tree()))
	o.images, o.archives = o.images[:1], o.archives[:1]
	files := make1(t, o)
	for _, name := range []string{"SHA256SUMS.sig", "provenance.intoto.jsonl", "spokeshave.krew.yaml"} {
		if files[name] != nil {
			t.Errorf("there is a file %s", name)
		}
	}
	if chart := untar(t, files["spokeshave-1.2.3.tgz"], committed())["spokeshave/Chart.yaml"]; strings.Contains(chart, "image") {
		t.Errorf("the chart has an image:\n%s", chart)
	}
	if err := verifyFiles(t.Context(), o.out, sign.Trust{}, io.Discard); err != nil {
		t.Error(err)
	}
	key, err := trusted{key: public}.read()
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyFiles(t.Context(), o.out, key, io.Discard); err == nil {
		t.Error("a release without signatures passes for a signed one")
	}
}

// TestVerifyFiles: whatever is changed in a signed release is found.
func TestVerifyFiles(t *testing.T) {
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, private := keys(t, edPublic, edPrivate)
	other, _ := ecdsaKeys(t)
	o := small(t, checkout(t, tree()))
	o.images, o.archives, o.key = o.images[:1], o.archives[:1], private
	make1(t, o)
	write := func(dir, name string, body []byte) error { return os.WriteFile(filepath.Join(dir, name), body, 0o600) }
	tests := map[string]struct {
		key    string
		change func(dir string) error
		want   string
	}{
		"nothing":             {public, func(string) error { return nil }, ""},
		"another key":         {other, func(string) error { return nil }, "verify SHA256SUMS.sig"},
		"a changed file":      {public, func(dir string) error { return write(dir, "CHANGELOG.md", []byte("x")) }, "missing or changed: CHANGELOG.md"},
		"a file more":         {public, func(dir string) error { return write(dir, "more", nil) }, "not listed: more"},
		"a file less":         {public, func(dir string) error { return os.Remove(filepath.Join(dir, "CHANGELOG.md")) }, "missing or changed: CHANGELOG.md"},
		"no signature":        {public, func(dir string) error { return os.Remove(filepath.Join(dir, signatureFile)) }, "verify SHA256SUMS.sig"},
		"changed with a sum":  {public, func(dir string) error { return swap(dir, write) }, "verify SHA256SUMS.sig"},
		"changed, not signed": {"", func(dir string) error { return swap(dir, write) }, "the provenance is not about CHANGELOG.md"},
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
			key, err := trusted{key: tc.key}.read()
			if err != nil {
				t.Fatal(err)
			}
			err = verifyFiles(t.Context(), dir, key, io.Discard)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// swap changes a file, and its checksum with it.
func swap(dir string, write func(dir, name string, body []byte) error) error {
	if err := write(dir, "CHANGELOG.md", []byte("other words\n")); err != nil {
		return err
	}
	files, err := readFolder(dir)
	if err != nil {
		return err
	}
	return write(dir, sumsFile, sums(listedIn(files)))
}

// TestRefused: what cannot be released is refused before anything is built.
func TestRefused(t *testing.T) {
	dir := checkout(t, tree())
	tests := map[string]struct {
		reason string
		change func(*options)
		want   string
	}{
		"no version":      {"", func(o *options) { o.version = "" }, "--version v1.2.3"},
		"no v":            {"tags and versions are the same", func(o *options) { o.version = "1.2.3" }, "want vMAJOR.MINOR.PATCH"},
		"half a version":  {"", func(o *options) { o.version = "v1.2" }, "want vMAJOR.MINOR.PATCH"},
		"build metadata":  {"a tag cannot have a +", func(o *options) { o.version = "v1.2.3+x" }, "want vMAJOR.MINOR.PATCH"},
		"no host":         {"somebody else may own the name in Docker's registry", func(o *options) { o.registry = "acme" }, "want host/path"},
		"no key":          {"", func(o *options) { o.key = filepath.Join(dir, "none") }, "read the key"},
		"no variable":     {"", func(o *options) { o.key = "env://NO_SUCH_VARIABLE" }, "the variable NO_SUCH_VARIABLE is empty"},
		"not a key":       {"", func(o *options) { o.key = filepath.Join(dir, "LICENSE") }, "not PEM"},
		"files of others": {"what is no release is not replaced", func(o *options) { o.out = dir }, "is no release"},
		"no commit":       {"", func(o *options) { o.source = t.TempDir() }, "git status"},
		"changed":         {"what is built is a commit", func(o *options) { o.source = dirty(t) }, "the checkout has changes"},
		"another's tag":   {"the version is somewhere else", func(o *options) { o.source = tagged(t) }, "the tag v1.2.3 is at another commit"},
		"forbidden": {"linked code must be given away", func(o *options) {
			o.source = licensed(t, "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3, 19 November 2007\n")
		}, "example.com/linked"},
		"without licence":  {"", func(o *options) { o.source = licensed(t, "") }, "no licence file"},
		"other platform":   {"the program has to tell its manual", func(o *options) { o.archives = nil }, "cannot be made on"},
		"does not compile": {"", func(o *options) { o.source = broken(t) }, "build ./cmd/spokeshave for"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := small(t, dir)
			o.images, o.archives = o.images[:1], o.archives[:1]
			tc.change(&o)
			if err := build(t.Context(), o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if _, err := os.Stat(o.out); err == nil && o.out != dir {
				t.Error("a refused release has left a folder")
			}
		})
	}
}

func dirty(t *testing.T) string {
	dir := checkout(t, tree())
	if err := os.WriteFile(filepath.Join(dir, "charts", "spokeshave", "more.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func tagged(t *testing.T) string {
	dir := checkout(t, tree())
	git(t, dir, "tag", "v1.2.3")
	record(t, dir, "solver: later")
	return dir
}

func licensed(t *testing.T, text string) string {
	files := tree()
	files["linked/LICENSE"] = text
	if text == "" {
		delete(files, "linked/LICENSE")
	}
	return checkout(t, files)
}

func broken(t *testing.T) string {
	files := tree()
	files["cmd/spokeshave/main.go"] += "\nvar _ = undefined\n"
	return checkout(t, files)
}

// TestChangelog: the notes have the commits since the version before.
func TestChangelog(t *testing.T) {
	dir := checkout(t, tree())
	for _, step := range [][2]string{
		{"v1.1.0", ""}, {"", "solver: faster"}, {"v1.2.0-rc.1", ""}, {"", "docs: a page\n\nBreaking: rename a to b in values"},
		{"v1.2.0", ""}, {"", "convert, top: examples"}, {"", "a sentence without a room"}, {"v1.3.0", ""},
	} {
		if step[0] != "" {
			git(t, dir, "tag", step[0])
			continue
		}
		record(t, dir, step[1])
	}
	notes := func(version string) string {
		r := release{options: options{source: dir, version: version}}
		if err := r.writeChangelog(t.Context()); err != nil {
			t.Fatal(err)
		}
		return string(r.files[0].Body)
	}
	hash := func(subject string) string {
		return git(t, dir, "log", "--format=%h", "--abbrev=12", "--grep", subject)
	}
	want := "# v1.2.1\n\n2 commits since v1.2.0.\n\n## convert, top\n\n- examples (`" + hash("examples") + "`)\n\n## other\n\n- a sentence without a room (`" + hash("sentence") + "`)\n"
	if diff := cmp.Diff(want, notes("v1.2.1")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := notes("v1.2.0"); !strings.Contains(got, "since v1.1.0") || !strings.Contains(got, "\n## What you have to do\n\n- rename a to b in values (`"+hash("a page")+"`, docs: a page)\n") {
		t.Errorf("what breaks is not told:\n%s", got)
	}
	if got := notes("v1.2.0-rc.2"); !strings.Contains(got, "since v1.2.0-rc.1.") {
		t.Errorf("a pre-release comes after the one before:\n%s", got)
	}
	if got := notes("v1.0.0"); !strings.Contains(got, "The first release: 5 commits.") {
		t.Errorf("the first release:\n%s", got)
	}
}
