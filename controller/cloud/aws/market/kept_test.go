package market

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// made makes the catalogue of a class whose kubelet settings differ by n from those of
// other classes.
func made(t *testing.T, c *Catalogue, class *awsv1.EC2NodeClass, name string, n int32) model.Catalog {
	t.Helper()
	class = class.DeepCopy()
	class.Name = name
	class.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: &n}
	out, err := c.Of(class)
	if err != nil || len(out.Types) < 700 || out.NodeClass != name {
		t.Fatalf("catalogue of %s: %q, %d types, %v", name, out.NodeClass, len(out.Types), err)
	}
	return out
}

// liveHeap is what lives on the heap after a garbage collection, in bytes.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestClassesLeaveNothing: classes that come and go leave no catalogue behind.
func TestClassesLeaveNothing(t *testing.T) {
	c, class := withoutAWS()
	made(t, c, class, "stays", 10)
	before := liveHeap()
	for n := range int32(20) {
		name := fmt.Sprintf("class-%d", n)
		made(t, c, class, name, 20+n)
		c.Forget(name)
	}
	if len(c.kept.keys) != 1 || len(c.kept.catalogues) != 1 {
		t.Errorf("%d classes with %d catalogues are kept, want the one that stays", len(c.kept.keys), len(c.kept.catalogues))
	}
	if grown := liveHeap() - before; grown > 3<<20 {
		t.Errorf("20 classes have left %.1f MB, want less than 3", float64(grown)/1e6)
	}
	runtime.KeepAlive(c)
}

// TestEqualClassesShareACatalogue: the catalogue of a class is kept once for all classes
// of equal inputs, until the last of them has another one or is gone.
func TestEqualClassesShareACatalogue(t *testing.T) {
	c, class := withoutAWS()
	a, b := made(t, c, class, "a", 10), made(t, c, class, "b", 10)
	if &a.Types[0] != &b.Types[0] || a.Generation != b.Generation {
		t.Error("equal classes have catalogues of their own")
	}
	want := made(t, c, class, "alone", 20)
	if got := made(t, c, class, "a", 20); !cmp.Equal(want.Types, got.Types) || cmp.Equal(a.Types, got.Types) {
		t.Error("a class that has changed does not have the catalogue of its new settings")
	}
	c.Forget("a")
	if n := len(c.kept.catalogues); n != 2 {
		t.Errorf("%d catalogues are kept, want those of b and alone", n)
	}
	c.Forget("b")
	c.Forget("unknown")
	if n := len(c.kept.catalogues); n != 1 {
		t.Errorf("%d catalogues are kept, want that of alone", n)
	}
	c.Forget("alone")
	if len(c.kept.keys)+len(c.kept.catalogues) != 0 {
		t.Errorf("something is kept of classes that are all gone: %v", c.kept.keys)
	}
}
