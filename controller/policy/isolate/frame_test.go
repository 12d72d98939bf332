package isolate

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReceive: whatever comes through the pipe, the controller reads frames of at most maxReply
// bytes, or an error, and allocates no more than that. A frame that was read is the one that was
// written.
func FuzzReceive(f *testing.F) {
	for _, each := range []frame{{kind: kindReady, bytes: []byte(`{"landlock":4,"seccomp":true}`)}, {kind: kindStage, bytes: []byte("test p_test.rego:1")}, {kind: kindLoaded, policy: 1 << 63, bytes: []byte(`{"Took":1}`)}, {kind: kindReply}} {
		var out bytes.Buffer
		if err := each.send(&out); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
		f.Add(append(out.Bytes(), out.Bytes()...))
		f.Add(out.Bytes()[:out.Len()-1])
	}
	f.Add([]byte("\xff\xff\xff\xff\x07\x00\x00\x00aaaaaaaa"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		receiveAll(b, func(frame, error) {})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > maxReply+uint64(len(b))*8+1<<16 {
			t.Errorf("%d bytes were allocated for %d", used, len(b))
		}
		rest := b
		receiveAll(b, func(got frame, err error) {
			if len(got.bytes) > maxReply {
				t.Fatalf("a frame of %d bytes", len(got.bytes))
			}
			if err == nil {
				rest = writtenFirst(t, &got, rest)
				return
			}
			if ended := errors.Is(err, io.EOF); len(rest) == 0 && !ended || ended && len(rest) != 0 && len(rest) != headSize {
				t.Errorf("%d bytes are left: %v", len(rest), err)
			}
		})
	})
}

// receiveAll receives frames as the controller does, each in the buffer of the one before, until
// one cannot be read.
func receiveAll(b []byte, received func(frame, error)) {
	r, buf := bufio.NewReaderSize(bytes.NewReader(b), 16), []byte(nil)
	for {
		got, err := receive(r, buf, maxReply)
		received(got, err)
		if err != nil {
			return
		}
		if got.bytes != nil {
			buf = got.bytes
		}
	}
}

// writtenFirst fails unless the frame, written again, is what b begins with, and returns the
// rest of b. Three bytes of the head are not used.
func writtenFirst(t *testing.T, got *frame, b []byte) []byte {
	t.Helper()
	var again bytes.Buffer
	if err := got.send(&again); err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(b[:again.Len()])
	clear(want[5:8])
	if diff := cmp.Diff(want, again.Bytes()); diff != "" {
		t.Errorf("-read +written\n%s", diff)
	}
	return b[again.Len():]
}
