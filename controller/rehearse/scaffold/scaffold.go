package scaffold

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"spokeshave.dev/sdk"
)

// Templates have @NAME@ and @HOOK@ in them, and end with .txt so that no tool
// takes them for what they are to become.
//
//go:embed templates
var templates embed.FS

// Project describes the project to create.
type Project struct {
	Name string
	// Hook is rank, consolidate or ceiling.
	Hook string
	// Language is one of Languages.
	Language string
}

// Hooks returns the hooks for which a project can be created.
func Hooks() []string { return []string{"rank", "consolidate", "ceiling"} }

// Languages returns the languages in which a project can be written, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(languages())) }

// language says where the files of a project in the language come from.
type language struct {
	// sdk holds the SDK in its folder folder; its files go to the folder into of the
	// project.
	sdk          embed.FS
	folder, into string
	// moved maps files that do not go to the project's top folder to their folders.
	moved map[string]string
}

func languages() map[string]language {
	return map[string]language{
		"rego":           {sdk: sdk.Files, folder: "rego", into: "."},
		"go":             {sdk: sdk.Go, folder: ".", into: "sdk", moved: map[string]string{"sdk.mod": "sdk/go.mod"}},
		"c":              {sdk: sdk.Files, folder: "c", into: "sdk"},
		"rust":           {sdk: sdk.Files, folder: "rust", into: "sdk", moved: map[string]string{"lib.rs": "src/lib.rs"}},
		"assemblyscript": {sdk: sdk.Files, folder: "assemblyscript/assembly", into: "spokeshave"},
	}
}

// Files returns the project's files by slash-separated name.
func (p *Project) Files() (map[string]string, error) {
	if wrong := validation.IsDNS1123Label(p.Name); wrong != nil {
		return nil, fmt.Errorf("%q cannot be a policy's name: %s", p.Name, strings.Join(wrong, "; "))
	}
	if !slices.Contains(Hooks(), p.Hook) {
		return nil, fmt.Errorf("hook %q: want %s", p.Hook, strings.Join(Hooks(), ", "))
	}
	lang, ok := languages()[p.Language]
	if !ok {
		return nil, fmt.Errorf("language %q: want %s", p.Language, strings.Join(Languages(), ", "))
	}
	out := map[string]string{}
	for _, from := range []string{"hooks/" + p.Hook, p.Language, p.Language + "/" + p.Hook} {
		if err := p.render(from, lang.moved, out); err != nil {
			return nil, err
		}
	}
	return out, carry(lang, out)
}

// render fills in the templates of a folder, without its subfolders.
func (p *Project) render(from string, moved, out map[string]string) error {
	entries, err := templates.ReadDir("templates/" + from)
	if err != nil {
		return fmt.Errorf("read templates: %w", err)
	}
	fill := strings.NewReplacer("@NAME@", p.Name, "@HOOK@", p.Hook)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := templates.ReadFile("templates/" + from + "/" + e.Name())
		if err != nil {
			return fmt.Errorf("read templates: %w", err)
		}
		name := strings.TrimSuffix(e.Name(), ".txt")
		switch to, elsewhere := moved[name]; {
		case elsewhere:
			name = to
		case name == "cases.yaml":
			name = "cases/cases.yaml"
		}
		out[name] = fill.Replace(string(text))
	}
	return nil
}

// carry adds the SDK's files, without its tests.
func carry(lang language, out map[string]string) error {
	if lang.folder == "" {
		return nil
	}
	all, err := fs.Sub(lang.sdk, lang.folder)
	if err != nil {
		return fmt.Errorf("read the SDK: %w", err)
	}
	err = fs.WalkDir(all, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(all, name)
		if err == nil {
			out[path.Join(lang.into, name)] = string(text)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read the SDK: %w", err)
	}
	return nil
}

// Write creates the project in a folder that must not exist yet.
func (p *Project) Write(dir string) error {
	files, err := p.Files()
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is there already", dir)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("make the project: %w", err)
		}
		if err := os.WriteFile(to, []byte(files[name]), 0o644); err != nil {
			return fmt.Errorf("make the project: %w", err)
		}
	}
	return nil
}
