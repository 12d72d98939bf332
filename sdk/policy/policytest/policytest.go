// Package policytest asks a policy written with sdk/policy its questions in a
// plain Go test, through the same bytes as in production:
//
//	func TestRank(t *testing.T) {
//		policytest.Configure(t, `{"avoid": ["m7i"]}`)
//		got := policytest.Rank(t, policytest.Pool{}, []policytest.Offering{{Family: "m7i", Price: 0.1}})
//		...
//	}
//
// A test binary holds one policy, and the tests of it cannot run in parallel.
package policytest

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"
	"time"

	"spokeshave.dev/sdk/abi"
	"spokeshave.dev/sdk/policy"
)

// Configure hands the policy its configuration, as JSON, and fails the test if
// the policy refuses it.
func Configure(tb testing.TB, config string) {
	tb.Helper()
	if err := policy.Setup(0, []byte(config)); err != nil {
		tb.Fatalf("configure: %v", err)
	}
}

// Time is the decision's time in every question, and Seed its seed.
func Time() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }

// Seed is the seed in every question.
const Seed = 1

const messageSize = 16 << 10

// builder puts a batch together.
type builder struct {
	head  abi.Header
	ids   map[string]uint32
	list  []string
	pairs []byte
	b     []byte
}

func newBuilder(hook abi.Hook) *builder {
	return &builder{
		head: abi.Header{Minor: abi.Minor, Hook: hook, Time: Time().UnixNano(), Generation: 1, Seed: Seed},
		ids:  map[string]uint32{"": 0}, list: []string{""},
		b: make([]byte, abi.HeaderSize),
	}
}

func (b *builder) id(s string) uint32 {
	id, ok := b.ids[s]
	if !ok {
		id = uint32(len(b.list))
		b.ids[s] = id
		b.list = append(b.list, s)
	}
	return id
}

func (b *builder) labels(set map[string]string) (first, count uint32) {
	first = uint32(len(b.pairs) / abi.PairStride)
	for _, key := range slices.Sorted(maps.Keys(set)) {
		b.pair(key, set[key])
	}
	return first, uint32(len(set))
}

func (b *builder) pair(key, value string) {
	b.pairs = binary.LittleEndian.AppendUint32(b.pairs, b.id(key))
	b.pairs = binary.LittleEndian.AppendUint32(b.pairs, b.id(value))
}

func (b *builder) span(size int) abi.Span {
	for len(b.b)%abi.Align != 0 {
		b.b = append(b.b, 0)
	}
	s := abi.Span{Offset: uint32(len(b.b)), Size: uint32(size)}
	b.b = append(b.b, make([]byte, size)...)
	return s
}

// put is a row of the format.
type put interface{ Put(b []byte) }

func section[T put](b *builder, stride int, rows []T) abi.Section {
	s := b.span(stride * len(rows))
	for i, row := range rows {
		row.Put(b.b[int(s.Offset)+i*stride:])
	}
	return abi.Section{Offset: s.Offset, Size: s.Size, Count: uint32(len(rows)), Stride: uint32(stride)}
}

// ask finishes the batch, asks the policy and fails the test unless it answers.
func (b *builder) ask(tb testing.TB) (*abi.Batch, abi.Messages) {
	tb.Helper()
	b.head.Message = b.span(messageSize)
	b.head.Pairs = b.span(len(b.pairs))
	copy(b.b[b.head.Pairs.Offset:], b.pairs)
	index := b.span(abi.IndexStride * len(b.list))
	b.head.Index = abi.Section{Offset: index.Offset, Size: index.Size, Count: uint32(len(b.list)), Stride: abi.IndexStride}
	var text []byte
	for i, s := range b.list {
		entry := b.b[int(index.Offset)+abi.IndexStride*i:]
		binary.LittleEndian.PutUint32(entry, uint32(len(text)))
		binary.LittleEndian.PutUint32(entry[4:], uint32(len(s)))
		text = append(text, s...)
	}
	b.head.Bytes = b.span(len(text))
	copy(b.b[b.head.Bytes.Offset:], text)
	b.head.Total = uint32(len(b.b))
	b.head.Put(b.b)
	var v abi.Batch
	if err := v.Open(b.b); err != nil {
		tb.Fatalf("build batch: %v", err)
	}
	messages := abi.Messages(v.Area(v.Message))
	switch status := policy.Handle(b.b); status {
	case abi.Answered:
	case abi.NoOpinion:
		tb.Fatal("the policy has no opinion: is the hook registered?")
	case abi.Refused, abi.Failed:
		tb.Fatalf("the policy answers with status %d: %s", status, messages.First())
	}
	return &v, messages
}

func reason(tb testing.TB, m abi.Messages, at uint32) string {
	tb.Helper()
	text, err := m.At(at)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func capacity(s string) uint8 {
	switch s {
	case "on-demand":
		return abi.CapacityOnDemand
	case "spot":
		return abi.CapacitySpot
	case "reserved":
		return abi.CapacityReserved
	}
	return abi.CapacityUnknown
}
