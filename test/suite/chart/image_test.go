package chart

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// The image of a chart that stamped returns.
const (
	releasedDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	released       = "registry.example/team/controller:0.1.0@" + releasedDigest
)

// stamped returns a copy of the chart with an image, as "make release" makes it.
func stamped(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(chartDir)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir + "/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const image = "annotations:\n  spokeshave.dev/image-repository: registry.example/team/controller\n  spokeshave.dev/image-digest: " + releasedDigest + "\n"
	with := strings.Replace(string(text), "annotations:\n", image, 1)
	if err := os.WriteFile(dir+"/Chart.yaml", []byte(with), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestImage: there is no image that somebody else could own. A chart of a checkout has to be
// told one, a chart of a release has its own, with its digest as long as nothing else is set.
func TestImage(t *testing.T) {
	h := newHelm(t)
	release := stamped(t)
	const karpenters = `controller: {image: {repository: public.ecr.aws/karpenter/controller, tag: 1.14.1, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}}`
	tests := map[string]struct{ reason, chart, values, want string }{
		"checkout":                  {"nobody has said which image", chartDir, ``, ""},
		"checkout null":             {"as if it were not there", chartDir, `controller: {image: {repository: null}}`, ""},
		"checkout tag only":         {"a tag is no image", chartDir, `controller: {image: {tag: v2}}`, ""},
		"checkout Karpenter's":      {"Karpenter's image is not run", chartDir, karpenters, ""},
		"checkout said":             {"the chart's version is the tag", chartDir, `controller: {image: {repository: a.example/b}}`, "a.example/b:0.1.0"},
		"release":                   {"the image that was released with the chart", release, ``, released},
		"release Karpenter's":       {"a values file of Karpenter's chart has Karpenter's image", release, karpenters, released},
		"release same repository":   {"saying what holds anyway changes nothing", release, `controller: {image: {repository: registry.example/team/controller}}`, released},
		"release mirror":            {"a mirror may have kept one platform of it only", release, `controller: {image: {repository: a.example/b}}`, "a.example/b:0.1.0"},
		"release mirror and digest": {"both are said", release, `controller: {image: {repository: a.example/b, digest: "` + releasedDigest + `"}}`, "a.example/b:0.1.0@" + releasedDigest},
		"release another tag":       {"the digest is of the release's tag", release, `controller: {image: {tag: v2}}`, "registry.example/team/controller:v2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := h.run(t.Context(), "template", "spokeshave", tc.chart, "--namespace", "system", "--set", "settings.clusterName=test", "--values", values(t, tc.values))
			if tc.want == "" {
				if err == nil || !strings.Contains(err.Error(), "--set controller.image.repository=REGISTRY/controller") {
					t.Errorf("%s: got %v, want an error that says what to set", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := get[appsv1.Deployment](t, parse(t, out), "Deployment/spokeshave").Spec.Template.Spec.Containers[0].Image; got != tc.want {
				t.Errorf("%s: image %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
