package wasm

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero"
)

// key names a module's compiled code: a hash of the module, of the version of its format and
// of the processor's features. The engine computes it.
type key = [32]byte

// entries is what the engine reads compiled code from and writes it to, in place of a folder.
// Its methods are those that the engine's cache has. The engine calls Get before it compiles
// a module, and Add afterwards.
type entries interface {
	Get(k key) (content io.ReadCloser, ok bool, err error)
	Add(k key, content io.Reader) error
	Delete(k key) error
}

// cacheOf returns a cache of compiled modules for one runtime that is backed by e. The
// library offers caches in a folder only: the process that compiles may write no file, and
// the controller has none to write to.
func cacheOf(e entries) (wazero.CompilationCache, error) {
	c := wazero.NewCompilationCache()
	v := reflect.ValueOf(c)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil, errors.New("the engine's cache is no struct any more")
	}
	f := v.Elem().FieldByName("fileCache")
	if !f.IsValid() || f.Kind() != reflect.Interface || !reflect.TypeOf(e).Implements(f.Type()) {
		return nil, fmt.Errorf("the engine's cache %T has no field for what backs it any more", c)
	}
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(e)) //nolint:gosec // see above
	return c, nil
}
