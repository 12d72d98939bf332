package main

import (
	"os"
	"path/filepath"
	"testing"

	"spokeshave.dev/test/kit/source"
)

// TestControllers: the controller of a commit comes with the chart of that commit. With the working
// tree's, an older program would be started with flags that it refuses.
func TestControllers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the controller once more")
	}
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("the sources are no git repository:", err)
	}
	sides, done, err := controllers(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if len(sides) != 2 || sides[0].name != "HEAD" || sides[1] != (controller{name: "working tree"}) {
		t.Errorf("controllers are %+v, want that of HEAD, and the working tree's, which has no paths", sides)
	}
	files := []string{sides[0].path, filepath.Join(sides[0].chart, "Chart.yaml")}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	done()
	for _, file := range files {
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", file, err)
		}
	}
}
