package configmap

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzUnpack: whatever bytes are stored, they are unpacked to a text that is not longer than a
// text may be and that is the same after it is stored again, or they are called corrupt.
func FuzzUnpack(f *testing.F) {
	s := &Store{Namespace: "spokeshave", Name: "n", Key: "k"}
	for _, text := range []string{"", "{}", string(bytes.Repeat([]byte("a"), 100_000))} {
		packed, err := s.pack([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
		f.Add(packed[:len(packed)-1])
		f.Add(append(packed, packed...))
	}
	f.Add([]byte("plain"))
	f.Fuzz(func(t *testing.T, packed []byte) {
		text, err := s.unpack(packed)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) || text != nil {
				t.Errorf("%d bytes and %v", len(text), err)
			}
			return
		}
		if len(text) > maxUnpacked {
			t.Fatalf("%d bytes", len(text))
		}
		again, err := s.pack(text)
		if errors.Is(err, ErrTooLarge) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if same, err := s.unpack(again); err != nil || !bytes.Equal(text, same) {
			t.Errorf("%d bytes became %d: %v", len(text), len(same), err)
		}
	})
}

// TestMostText: what is written can be read, also when it packs well. Longer texts are refused
// when they are written, and when they are read.
func TestMostText(t *testing.T) {
	s := &Store{Namespace: "spokeshave", Name: "n", Key: "k"}
	packed, err := s.pack(make([]byte, maxUnpacked))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.unpack(packed); err != nil || len(text) != maxUnpacked {
		t.Errorf("%d bytes: %v", len(text), err)
	}
	if _, err := s.pack(make([]byte, maxUnpacked+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a text that cannot be read again is written: %v", err)
	}
	more, err := s.pack([]byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.unpack(append(packed, more...)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("of a text that is too long %d bytes are read: %v", len(text), err)
	}
}
