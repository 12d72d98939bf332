package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// FuzzUnpack: whatever the inputs of a record hold, what is unpacked is the snapshot with the
// digest that was recorded, and the same after it is packed again, or the error names the
// decision. The text of the snapshot is packed, and cut is how many bytes then lack.
func FuzzUnpack(f *testing.F) {
	in := decided("the-decision")
	var text bytes.Buffer
	if err := in.Snapshot.Encode(&text); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes(), uint8(0))
	f.Add(text.Bytes(), uint8(9))
	for _, text := range []string{`{}`, `{"pods":[{"node":-1,"spec":3}]}`, `{"nodes":[{"pool":-2}]}`, `{"pools":[{"catalog":9}]}`, `{"moves":[{"pod":1}]}`, `{"spent":[]}`, `{"time":"2026-03-11T09:00:00+24:00"}`, `null`, `[`, ``} {
		f.Add([]byte(text), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut uint8) {
		r := &Record{Entry: Entry{ID: "the-decision", Snapshot: digestOf(text)}}
		packed := zipped(t, text)
		r.Inputs = &Inputs{Snapshot: packed[:max(0, len(packed)-int(cut))]}
		s, err := r.Unpack()
		if err != nil {
			if s != nil || !strings.Contains(err.Error(), "the-decision") {
				t.Errorf("%+v: %v", s, err)
			}
			return
		}
		again := &Record{Entry: r.Entry}
		if err := again.Keep(&Decided{Snapshot: s}, "spokeshave"); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Unpack(); err != nil {
			t.Errorf("what was unpacked cannot be packed: %v", err)
		}
		again.Snapshot = strings.Repeat("0", 64)
		if _, err := again.Unpack(); err == nil {
			t.Error("another snapshot than that of the decision was unpacked")
		}
	})
}

// digestOf is the digest of a snapshot, "" of what is none.
func digestOf(text []byte) string {
	var s model.Snapshot
	if json.NewDecoder(bytes.NewReader(text)).Decode(&s) != nil {
		return ""
	}
	digest, err := s.Digest()
	if err != nil {
		return ""
	}
	return digest
}

// zipped returns the text in gzip.
func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
