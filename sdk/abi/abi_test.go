package abi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// record is what every row of the format can do.
type record interface {
	Put(b []byte)
	Get(b []byte)
}

// TestLayout proves that a row in memory is the row on the wire: the guests
// read it in place.
func TestLayout(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the layouts agree on little-endian machines only")
	}
	cases := map[string]struct {
		row  record
		size int
	}{
		"pool":            {&PoolRow{}, PoolStride},
		"rank":            {&RankRow{}, RankStride},
		"rank out":        {&RankOut{}, RankOutStride},
		"candidate":       {&CandidateRow{}, CandidateStride},
		"consolidate out": {&ConsolidateOut{}, ConsolidateOutStride},
		"scope":           {&ScopeRow{}, ScopeStride},
		"launch":          {&LaunchRow{}, LaunchStride},
		"ceiling out":     {&CeilingOut{}, CeilingOutStride},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			typ := reflect.TypeOf(tc.row).Elem()
			if int(typ.Size()) != tc.size {
				t.Fatalf("in memory %d bytes, on the wire %d", typ.Size(), tc.size)
			}
			row := reflect.ValueOf(tc.row).Elem()
			for i := range typ.NumField() {
				f := typ.Field(i)
				if f.Name == "_" {
					continue
				}
				row.SetZero()
				set(row.Field(i))
				got := make([]byte, tc.size)
				tc.row.Put(got)
				want := make([]byte, tc.size)
				put(want[f.Offset:], row.Field(i))
				if !bytes.Equal(got, want) {
					t.Errorf("%s: wire %x, memory %x", f.Name, got, want)
				}
				back := reflect.New(typ)
				back.Interface().(record).Get(got)
				if back.Elem().Field(i).Interface() != row.Field(i).Interface() {
					t.Errorf("%s: wrote %v, read %v", f.Name, row.Field(i), back.Elem().Field(i))
				}
			}
		})
	}
}

func set(v reflect.Value) {
	if v.CanFloat() {
		v.SetFloat(-math.Pi)
		return
	}
	v.SetUint(0xfedcba98 & (1<<v.Type().Bits() - 1))
}

func put(b []byte, v reflect.Value) {
	if v.CanFloat() {
		binary.LittleEndian.PutUint64(b, math.Float64bits(v.Float()))
		return
	}
	switch v.Type().Size() {
	case 1:
		b[0] = byte(v.Uint())
	default:
		binary.LittleEndian.PutUint32(b, uint32(v.Uint()))
	}
}

func sample() (Header, []byte) {
	h := Header{
		Minor: 3, Hook: HookRank, Time: -5, Generation: 6, Seed: 7,
		Pool:  Section{128, 48, 1, 48},
		Rows:  Section{176, 192, 2, 96},
		Index: Section{368, 16, 2, 8},
		Bytes: Span{384, 16},
		Out:   Section{400, 48, 2, 24},
		Pairs: Span{448, 16},
		// The last section ends where the batch does.
		Message: Span{464, 64},
		Total:   528,
	}
	b := make([]byte, h.Total)
	h.Put(b)
	return h, b
}

func TestHeader(t *testing.T) {
	h, b := sample()
	var got Header
	if err := got.Parse(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestHeaderRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(h *Header, b []byte) []byte
		want   error
	}{
		"short":     {"less than a header", func(_ *Header, b []byte) []byte { return b[:100] }, ErrShort},
		"cut":       {"the total is a lie", func(_ *Header, b []byte) []byte { return b[:527] }, ErrShort},
		"magic":     {"not a batch", func(_ *Header, b []byte) []byte { b[0] = 'X'; return b }, ErrMagic},
		"outside":   {"rows end after the batch", func(h *Header, b []byte) []byte { h.Rows.Offset = 480; h.Put(b); return b }, ErrSection},
		"overflow":  {"offset plus size wraps", func(h *Header, b []byte) []byte { h.Message = Span{0xfffffff0, 0x20}; h.Put(b); return b }, ErrSection},
		"count":     {"more rows than room", func(h *Header, b []byte) []byte { h.Rows.Count = 3; h.Put(b); return b }, ErrSection},
		"wrap":      {"count times stride wraps", func(h *Header, b []byte) []byte { h.Rows.Count = 1 << 29; h.Rows.Stride = 1 << 7; h.Put(b); return b }, ErrSection},
		"stride":    {"a row too small to read", func(h *Header, b []byte) []byte { h.Rows.Stride = 72; h.Put(b); return b }, ErrSection},
		"header":    {"a section over the header", func(h *Header, b []byte) []byte { h.Bytes.Offset = 112; h.Put(b); return b }, ErrSection},
		"unaligned": {"a section that is not aligned", func(h *Header, b []byte) []byte { h.Rows.Offset = 168; h.Put(b); return b }, ErrSection},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, b := sample()
			var got Header
			if err := got.Parse(tc.change(&h, b)); !errors.Is(err, tc.want) {
				t.Fatalf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
	h, b := sample()
	h.Hook = 9
	h.Put(b)
	if err := h.Parse(b); err == nil {
		t.Error("a hook that does not exist was accepted")
	}
}

func TestSetup(t *testing.T) {
	s := Setup{Minor: 1, Hooks: 1 << HookRank, Total: 128, Config: Span{64, 2}, Message: Span{80, 48}}
	s.Strides()
	b := make([]byte, 128)
	s.Put(b)
	var got Setup
	if err := got.Parse(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Fatal(diff)
	}
	s.Message.Size = 49
	s.Put(b)
	if err := got.Parse(b); !errors.Is(err, ErrSection) {
		t.Fatalf("a message area outside the block: %v", err)
	}
}

func TestMessages(t *testing.T) {
	m := Messages(make([]byte, 64))
	m.Reset()
	if m.First() != nil {
		t.Error("an empty area has a first message")
	}
	a, b := m.Append("one"), m.Append("twotwo")
	for offset, want := range map[uint32]string{a: "one", b: "twotwo", 0: ""} {
		got, err := m.At(offset)
		if err != nil || string(got) != want {
			t.Errorf("at %d: %q, %v; want %q", offset, got, err, want)
		}
	}
	if string(m.First()) != "one" {
		t.Errorf("first message %q", m.First())
	}
	if at := m.Append("a message that does not fit into what is left of it"); at != 0 {
		t.Errorf("appended at %d to a full area", at)
	}
	for _, offset := range []uint32{1, 3, 61, 64, 1 << 31, math.MaxUint32} {
		if _, err := m.At(offset); err == nil {
			t.Errorf("read a message at %d", offset)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	_, b := sample()
	var v Batch
	var row RankRow
	n := testing.AllocsPerRun(100, func() {
		if v.Open(b) == nil {
			row.Get(v.Row(v.Rows, 1))
			v.Text(1)
			Messages(v.Area(v.Message)).Append("x")
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzBatch: whatever the bytes, an opened batch is read without a panic and
// inside its bounds.
func FuzzBatch(f *testing.F) {
	_, b := sample()
	f.Add(b)
	f.Add(b[:130])
	f.Fuzz(func(t *testing.T, b []byte) {
		var v Batch
		if v.Open(b) != nil {
			return
		}
		for _, s := range []Section{v.Pool, v.Rows, v.Out, v.Index} {
			for i := range min(s.Count, 100) {
				if row := v.Row(s, i); uint32(len(row)) != s.Stride {
					t.Fatalf("row %d of %+v has %d bytes", i, s, len(row))
				}
			}
			if v.Row(s, s.Count) != nil {
				t.Fatal("a row after the last one")
			}
		}
		for i := range min(v.Index.Count, 100) {
			v.Text(i)
			v.Pair(i)
		}
		m := Messages(v.Area(v.Message))
		for i := range uint32(len(m)) {
			if text, err := m.At(i); err == nil && len(text) > MaxMessage {
				t.Fatal("message too long")
			}
		}
		m.First()
		m.Append("reason")
	})
}

// FuzzSetup: what Parse accepts lies inside the block.
func FuzzSetup(f *testing.F) {
	s := Setup{Total: SetupSize}
	b := make([]byte, SetupSize)
	s.Put(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Setup
		if s.Parse(b) != nil {
			return
		}
		for _, p := range []Span{s.Config, s.Message} {
			if p.Size > 0 && uint64(p.Offset)+uint64(p.Size) > uint64(len(b)) {
				t.Fatalf("%+v outside %d bytes", p, len(b))
			}
		}
	})
}
