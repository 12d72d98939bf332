package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tree is a product as a release needs it, small enough to be built six times in a test: two
// programs, a module that they have linked, a chart.
func tree() map[string]string {
	return map[string]string{
		"go.mod":                               "module spokeshave.dev\n\ngo 1.26\n\nrequire example.com/linked v1.2.0\n\nreplace example.com/linked v1.2.0 => ./linked\n",
		"linked/go.mod":                        "module example.com/linked\n\ngo 1.26\n",
		"linked/LICENSE":                       mit,
		"linked/NOTICE":                        "Linked was made by somebody.\n",
		"linked/linked.go":                     "package linked\n\nconst Text = \"linked\"\n",
		"LICENSE":                              "a licence\n",
		"controller/cloud/catalog/data/NOTICE": "a notice\n",
		"controller/app/version.go":            "package app\n\nvar Version = \"dev\"\n",
		"cmd/spokeshave-controller/main.go":    "package main\n\nimport (\n\t\"example.com/linked\"\n\t\"spokeshave.dev/controller/app\"\n)\n\nfunc main() { println(app.Version, linked.Text) }\n",
		"cmd/spokeshave/main.go": `package main

import (
	"os"

	"example.com/linked"
)

var version string

func main() {
	if os.Args[1] == "completion" {
		os.Stdout.WriteString("completion for " + os.Args[2] + linked.Text + version)
		return
	}
	os.Stdout.WriteString(` + "`" + `{"name": "spokeshave", "use": "spokeshave", "short": "Short words", "long": "Long words.\n\n  first   one\n  second  two\n\nMore.",
"commands": [{"name": "top", "use": "top [flags]", "short": "Look", "flags": [{"name": "output", "shorthand": "o", "type": "string", "default": "table", "usage": "table or json"}]}]}` + "`" + `)
}
`,
		"charts/spokeshave/Chart.yaml":               "apiVersion: v2\nname: spokeshave\nversion: 0.1.0\nappVersion: 0.1.0\n",
		"charts/spokeshave/values.yaml":              "# kept as it is\na: 1\n",
		"charts/spokeshave/.helmignore":              "*.bak\n",
		"charts/spokeshave/left-out.bak":             "x\n",
		"charts/spokeshave/templates/configmap.yaml": "image: {{ index .Chart.Annotations \"spokeshave.dev/image-repository\" }}@{{ index .Chart.Annotations \"spokeshave.dev/image-digest\" }}\n",
	}
}

const mit = `MIT License

Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`

// checkout writes files and commits them, in a folder whose name is new each time.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "--quiet", "--initial-branch=main")
	record(t, dir, "solver: begin")
	return dir
}

// record commits everything in a checkout, at a time of its own.
func record(t *testing.T, dir, message string) {
	t.Helper()
	git(t, dir, "add", "--all")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--message", message)
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-03-11T09:00:00Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-03-11T10:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// committed is when checkout commits.
func committed() time.Time { return time.Date(2026, 3, 11, 10, 0, 0, 0, time.UTC) }

// small are the options for a release of a checkout.
func small(t *testing.T, source string) options {
	t.Helper()
	return options{
		source: source, out: filepath.Join(t.TempDir(), "release"), version: "v1.2.3",
		repository: "https://source.example/x", builder: "https://builder.example", progress: io.Discard,
		images: imagePlatforms(), archives: archivePlatforms(),
	}
}

// make1 builds a release and returns its files.
func make1(t *testing.T, o options) map[string][]byte {
	t.Helper()
	if err := build(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	files, err := readFolder(o.out)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
