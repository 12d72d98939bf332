package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spokeshave.dev/tools/release/notices"
)

// product copies the files of this checkout, changed ones as they are, into a checkout of
// its own in another folder.
func product(t *testing.T) string {
	t.Helper()
	const root = "../.."
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the files of the checkout: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		body, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	record(t, dir, "release: everything")
	return dir
}

// TestProduct releases the product itself, twice, from folders with different names and
// times: the files are the same. By default for linux/amd64 only, with RELEASE=all for every
// platform, which takes some minutes.
func TestProduct(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the product")
	}
	_, private := ecdsaKeys(t)
	o := small(t, product(t))
	o.registry, o.key, o.downloads, o.progress = "registry.example/team", private, "https://files.example", t.Output()
	if os.Getenv("RELEASE") != "all" {
		o.images, o.archives = o.images[:1], o.archives[:1]
	}
	files := make1(t, o)
	again := o
	again.source, again.out = product(t), filepath.Join(t.TempDir(), "elsewhere")
	second := make1(t, again)
	for name, body := range files {
		if !bytes.Equal(second[name], body) {
			t.Errorf("%s differs between two builds", name)
		}
	}
	if len(second) != len(files) {
		t.Errorf("%d files, then %d", len(files), len(second))
	}

	archive := untar(t, files["spokeshave-v1.2.3-linux-amd64.tar.gz"], committed())
	for name, want := range map[string]string{
		"completions/spokeshave.bash": "__start_spokeshave", "completions/_spokeshave": "#compdef spokeshave", "completions/spokeshave.fish": "complete -c spokeshave",
		"man/man1/spokeshave.1": "SEE ALSO", "man/man1/spokeshave-policy-push.1": ".SH EXAMPLE", "man/man1/spokeshave-completion-bash.1": ".SH OPTIONS",
		"THIRD_PARTY_NOTICES": "github.com/open-policy-agent/opa v", "NOTICE.catalog": "ec2instances.info",
	} {
		if !strings.Contains(archive[name], want) {
			t.Errorf("%s in the archive lacks %q", name, want)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range archive {
		if strings.Contains(text, home+"/") || strings.Contains(text, o.source) {
			t.Errorf("%s in the archive names a folder of the machine that built it", name)
		}
	}
	t.Run("chart", func(t *testing.T) { checkImageOfChart(t, o) })
}

// checkImageOfChart: Helm renders the chart of the release without being told an image.
func checkImageOfChart(t *testing.T, o options) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), helmProgram(t), "template", "spokeshave", filepath.Join(o.out, "spokeshave-1.2.3.tgz"), "--set", "settings.clusterName=x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "image: registry.example/team/controller:v1.2.3@sha256:") {
		t.Errorf("the chart does not have the image of the release:\n%s", out)
	}
}

// TestLicencesOfTheProduct: what the product has linked may be passed on.
func TestLicencesOfTheProduct(t *testing.T) {
	modules, err := licences(t.Context(), "../..", archivePlatforms())
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 50 {
		t.Errorf("%d modules, want at least 50: the search is wrong", len(modules))
	}
	found := map[string]notices.Module{}
	for _, m := range modules {
		found[m.Path] = m
	}
	// A module whose parts have licences of their own, and one with a notice.
	if m := found["k8s.io/apimachinery"]; len(m.Licences) != 2 {
		t.Errorf("k8s.io/apimachinery has the licences %v, want that of its third_party folder as well", m.Licences)
	}
	named := false
	for _, f := range found["github.com/prometheus/client_golang"].Files {
		named = named || f.Name == "NOTICE"
	}
	if !named {
		t.Error("the notice of github.com/prometheus/client_golang is missing")
	}
}
