package meter

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// TestEntries: what is small in a module and large in memory is refused before it
// is read, and as much of it as is allowed is not too much.
func TestEntries(t *testing.T) {
	const room = 128 << 20
	section := func(id byte, n int, entry string) []byte {
		body := append(putU32(nil, uint32(n)), bytes.Repeat([]byte(entry), n)...)
		return append(putU32([]byte{id}, uint32(len(body))), body...)
	}
	void := section(secType, 1, "\x60\x00\x00")
	for name, tc := range map[string]struct {
		reason string
		parts  func(n int) [][]byte
		most   int // that are read, 0 for none
		want   string
	}{
		"types": {
			reason: "400 bytes each in the engine",
			parts:  func(n int) [][]byte { return [][]byte{section(secType, n, "\x60\x00\x00")} }, most: 10_000, want: "types: ",
		},
		"values of types": {
			reason: "the engine names every type by its values, and makes code that hands each over",
			parts: func(n int) [][]byte {
				return [][]byte{section(secType, min(n/128, 10_000), "\x60\x40"+strings.Repeat("\x7f", 64)+"\x40"+strings.Repeat("\x7f", 64))}
			},
			most: 20_000, want: "types: all function types together",
		},
		"imports": {
			reason: "names and types of each",
			parts:  func(n int) [][]byte { return [][]byte{void, section(secImport, n, "\x00\x00\x00\x00")} }, most: 1000, want: "imports: ",
		},
		"globals": {
			reason: "every instance has its own",
			parts:  func(n int) [][]byte { return [][]byte{section(secGlobal, n, "\x7f\x01\x41\x00\x0b")} }, most: 10_000, want: "globals: ",
		},
		"exports": {
			reason: "a name for each",
			parts: func(n int) [][]byte {
				return [][]byte{section(secGlobal, 1, "\x7f\x01\x41\x00\x0b"), section(secExport, n, "\x00\x03\x00")}
			},
			most: 10_000, want: "exports: ",
		},
		"elements": {
			reason: "segments of nothing",
			parts:  func(n int) [][]byte { return [][]byte{section(secElement, n, "\x01\x00\x00")} }, most: 10_000, want: "elements: ",
		},
		"data": {
			reason: "segments of nothing; the Go linker makes 100,000 at most",
			parts:  func(n int) [][]byte { return [][]byte{section(secData, n, "\x01\x00")} }, most: 100_000, want: "data: ",
		},
		"functions": {
			reason: "they weigh too much together long before the last of them",
			parts: func(n int) [][]byte {
				return [][]byte{void, section(secFunction, n, "\x00"), section(secCode, n, "\x02\x00\x0b")}
			},
			want: "all functions together",
		},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(n int) (took uint64, err error) {
				module := append([]byte("\x00asm\x01\x00\x00\x00"), bytes.Join(tc.parts(n), nil)...)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err = Rewrite(module, Defaults())
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc, err
			}
			took, err := read(1_500_000)
			if err == nil || !strings.Contains(err.Error(), tc.want) || took > room {
				t.Errorf("%s: %v, %d MiB; want %q and at most %d MiB", tc.reason, err, took>>20, tc.want, room>>20)
			}
			if took, err := read(tc.most); err != nil || took > room {
				t.Errorf("%d of them: %v, %d MiB", tc.most, err, took>>20)
			}
		})
	}
}
