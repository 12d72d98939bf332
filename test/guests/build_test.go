package guests

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCommitted builds every guest anew and compares it with the committed
// module. Without a compiler, or with another version of it, that says nothing:
// only CI, which installs the compilers, insists.
func TestCommitted(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := Find(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatal("no guests were found")
	}
	for _, dir := range dirs {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(dir, Module))
			if err != nil {
				t.Fatalf("%v: run make guests", err)
			}
			got, err := Build(t.Context(), root, dir)
			strict := os.Getenv("CI") != ""
			switch {
			case errors.Is(err, ErrNoCompiler) && !strict:
				t.Skip(err)
			case err != nil:
				t.Fatal(err)
			case !bytes.Equal(got, want) && strict:
				t.Errorf("%d bytes are built, %d are committed, and they differ: run make guests", len(got), len(want))
			case !bytes.Equal(got, want):
				t.Logf("%d bytes are built, %d are committed: your compiler differs from CI's, or make guests is due", len(got), len(want))
			}
		})
	}
}
