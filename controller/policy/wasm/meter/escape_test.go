package meter

import (
	"strings"
	"testing"
)

// TestEscapes: code that the engine and the rewriter would decode differently is
// refused, since its work would not be charged.
func TestEscapes(t *testing.T) {
	hidden := strings.Repeat("\x01", 16)
	cases := map[string]struct {
		why    string
		locals string // a vector
		body   string
		want   string
	}{
		"branch":         {"a branch beyond the function would leave past the end that writes the fuel down", "\x00", "\x03\x40" + countDown + "\x0b\x0c\x01", "no block 1"},
		"branch if":      {"so would a conditional one", "\x00", "\x03\x40\x20\x00\x0d\x02\x0b", "no block 2"},
		"branch table":   {"and one by table", "\x00", "\x20\x00\x0e\x01\x00\x01", "no block 1"},
		"padded vector":  {"the engine takes the byte behind the prefix for the instruction, and the constant for code", "\x00", "\xfd\x8c\x00" + hidden + "\x1a", "padding"},
		"typed block":    {"the engine reads a heap type behind 0x63, and what follows is other code", "\x00", "\x02\x63\x0b\x1a", "value type 0x63"},
		"typed loop":     {"a padded block type is none", "\x00", "\x03\xc0\x7f\x0b", "value type 0xc0"},
		"typed local":    {"the same for locals", "\x01\x01\x64", "", "value type 0x64"},
		"typed select":   {"and for select", "\x00", "\x20\x00\x20\x00\x20\x00\x1c\x01\x63\x1a", "value type 0x63"},
		"typed null":     {"and for null", "\x00", "\xd0\x63\x1a", "value type 0x63"},
		"number as null": {"a number cannot be null", "\x00", "\xd0\x7f\x1a", "not a reference"},
		"function":       {"a function beyond the module's would be the safepoint", "\x00", "\xd2\xff\xff\xff\xff\x0f\x1a", "no function 4294967295"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			body := vector([]byte(tc.locals + tc.body + "\x0b"))
			module := []byte("\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x01\x7f\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01")
			module = cat(module, []byte{10}, vector(list([][]byte{body})))
			if _, err := Rewrite(module, Defaults()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want one about %q", tc.why, err, tc.want)
			}
		})
	}
}

// TestElementEscapes: the same for functions named outside code.
func TestElementEscapes(t *testing.T) {
	head := "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00"
	code := "\x0a\x04\x01\x02\x00\x0b"
	const none = "\xff\xff\xff\xff\x0f"
	cases := map[string]struct{ why, module, want string }{
		"start":      {"the safepoint is no start function", head + "\x08\x05" + none + code, "no function"},
		"element":    {"nor an element of a table", head + "\x04\x04\x01\x70\x00\x01\x09\x0b\x01\x00\x41\x00\x0b\x01" + none + code, "no function"},
		"expression": {"however it is written", head + "\x04\x04\x01\x70\x00\x01\x09\x0d\x01\x04\x41\x00\x0b\x01\xd2" + none + "\x0b" + code, "no function"},
		"global":     {"nor what a global refers to", head + "\x06\x0a\x01\x70\x00\xd2" + none + "\x0b" + code, "no function"},
		"type":       {"types of globals take one byte", head + "\x06\x06\x01\x63\x00\xd0\x70\x0b" + code, "value type 0x63"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Rewrite([]byte(tc.module), Defaults()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want one about %q", tc.why, err, tc.want)
			}
		})
	}
}
