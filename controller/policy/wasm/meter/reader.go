package meter

import (
	"errors"
	"fmt"
)

var (
	errEnd  = errors.New("unexpected end")
	errLEB  = errors.New("number too long")
	errRoom = errors.New("count larger than what follows")
)

// reader reads bytes and keeps its first error; after that, every read returns zero
// values. Loops over counts end because each count is checked against the remaining
// bytes.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = len(r.b)
}

func (r *reader) failf(format string, args ...any) { r.fail(fmt.Errorf(format, args...)) }

func (r *reader) done() bool { return r.at >= len(r.b) }

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.fail(errEnd)
		return 0
	}
	c := r.b[r.at]
	r.at++
	return c
}

func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > 1<<32-1 {
				r.fail(errLEB)
				return 0
			}
			return uint32(v)
		}
	}
	r.fail(errLEB)
	return 0
}

// s33 reads a block type.
func (r *reader) s33() int64 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.fail(errLEB)
	return 0
}

// number skips a signed number of at most 64 bits.
func (r *reader) number() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(errLEB)
}

// count reads the length of a vector whose elements take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.u32()
	if uint64(n)*uint64(size) > uint64(len(r.b)-r.at) {
		r.fail(errRoom)
		return 0
	}
	return int(n)
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail(errEnd)
		return nil
	}
	s := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return s
}

func (r *reader) name() string { return string(r.take(r.u32())) }

// valueType reads a value type of one byte. The engine reads the longer types of
// newer proposals even when they are disabled. They are refused here, since the
// rewriter and the engine would otherwise disagree about where the code continues.
func (r *reader) valueType() byte {
	t := r.byte()
	switch t {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f: // i32, i64, f32, f64, v128, funcref, externref
	default:
		r.failf("value type %#x is not supported", t)
	}
	return t
}

// referenceType reads a value type that is a reference.
func (r *reader) referenceType() byte {
	t := r.valueType()
	if t != 0x70 && t != 0x6f {
		r.failf("type %#x is not a reference", t)
	}
	return t
}

// types reads the types of parameters or results.
func (r *reader) types() string {
	n := r.count(1)
	out := make([]byte, n)
	for i := range out {
		out[i] = r.valueType()
	}
	return string(out)
}

// sub reads the opcode after a prefix. It must have its shortest encoding, because
// the engine reads some of them as a single byte whatever their length.
func (r *reader) sub() uint32 {
	at := r.at
	n := r.u32()
	if r.err == nil && r.at-at != len(putU32(nil, n)) {
		r.failf("instruction %d is written with padding", n)
	}
	return n
}

func putU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func putS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func putName(b []byte, s string) []byte { return append(putU32(b, uint32(len(s))), s...) }
