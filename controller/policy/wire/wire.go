// Package wire translates between the controller's questions and answers and the
// batches of sdk/abi. It checks everything that a guest returns: numbers must be
// finite and in range, and offsets inside the batch. Anything else is a policy.Fault
// of kind BadReply.
//
// Package controller/policy/wasm passes the bytes to a guest. Package
// controller/core/policy combines the answers of several policies.
package wire

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// Limits on the rows of a batch and on the size of its message area in bytes.
const (
	maxRows      = 1 << 18
	messageBase  = 4 << 10
	messagePer   = 16
	messageLimit = 64 << 10
)

// Encoder lays out batches, writes them into the guest's memory, and reads the
// replies. Rank, Consolidate and Ceiling return the size of the batch in bytes; Put
// then writes it. The question must not change between the two. An Encoder belongs
// to one guest instance, because the ids of catalogue strings stay the same from
// batch to batch until the catalogue's generation changes. It is not safe for
// concurrent use.
type Encoder struct {
	head  abi.Header
	names *names
	// catalogue has the strings of batches about offerings, passing those of all
	// other batches. They are separate so that a batch with few strings neither
	// contains a catalogue's strings nor removes them.
	catalogue, passing names
	pairs              []byte
	scopes, keys       []string
	// rank is the question of a rank batch, whose rows are written directly to the
	// guest, and pool its pool row. rows are the encoded rows of other batches.
	rank *policy.RankInput
	pool abi.PoolRow
	rows []byte
	// verdict is the initial verdict of a consolidate batch's answers.
	verdict uint32
}

// begin lays out the parts of a batch whose sizes are known: pool, rows, answers and
// message area. finish adds the strings.
func (e *Encoder) begin(hook abi.Hook, call *policy.Call, pools, rows, outs int) error {
	if pools+rows > maxRows {
		return fmt.Errorf("encode batch: %d rows, at most %d are sent at once", pools+rows, maxRows)
	}
	if e.names != nil { // from a batch that was not sent
		e.names.end()
	}
	e.head = abi.Header{
		Minor: abi.Minor, Hook: hook,
		Time: call.Time.UnixNano(), Generation: call.Generation, Seed: call.Seed,
	}
	e.names = &e.passing
	if call.Generation != 0 {
		e.names = &e.catalogue
	}
	e.names.begin(call.Generation)
	e.pairs = e.pairs[:0]
	at := uint32(abi.HeaderSize)
	e.head.Pool = table(&at, pools, poolStride(hook))
	e.head.Rows = table(&at, rows, rowStride(hook))
	e.head.Out = table(&at, outs, abi.RankOutStride)
	e.head.Message = abi.Span{Offset: at, Size: uint32(min(messageBase+messagePer*outs, messageLimit))}
	return nil
}

// finish lays out pairs and strings and returns the size of the batch.
func (e *Encoder) finish() int {
	e.head.Pairs = abi.Span{Offset: e.head.Message.Offset + e.head.Message.Size, Size: uint32(len(e.pairs))}
	at := aligned(e.head.Pairs.Offset + e.head.Pairs.Size)
	e.head.Index = table(&at, len(e.names.list), abi.IndexStride)
	e.head.Bytes = abi.Span{Offset: at, Size: uint32(len(e.names.text))}
	e.head.Total = at + e.head.Bytes.Size
	return int(e.head.Total)
}

// Put writes the batch that was laid out last into b, which must have its size. It
// overwrites every byte, so that equal questions give equal bytes.
func (e *Encoder) Put(b []byte) {
	b = b[:e.head.Total]
	if e.head.Hook == abi.HookRank {
		e.putRank(b)
	} else {
		copy(b[abi.HeaderSize:e.head.Out.Offset], e.rows)
		e.preset(b)
	}
	messages := e.messages(b)
	clear(messages)
	messages.Reset()
	copy(b[e.head.Pairs.Offset:], e.pairs)
	copy(b[e.head.Index.Offset:], e.names.index)
	copy(b[e.head.Bytes.Offset:], e.names.text)
	for _, end := range [...]uint32{
		e.head.Pool.Offset + e.head.Pool.Size, e.head.Rows.Offset + e.head.Rows.Size, e.head.Out.Offset + e.head.Out.Size,
		e.head.Pairs.Offset + e.head.Pairs.Size, e.head.Index.Offset + e.head.Index.Size,
	} {
		clear(b[end:aligned(end)])
	}
	e.head.Put(b)
	e.names.end()
}

// preset writes the initial answers of a consolidate or ceiling batch.
func (e *Encoder) preset(b []byte) {
	for i := range int(e.head.Out.Count) {
		out := abi.ConsolidateOut{Verdict: e.verdict}
		out.Put(e.out(b, i))
	}
}

// row returns where pool or question row i of a consolidate or ceiling batch is
// encoded.
func (e *Encoder) row(s abi.Section, i int) []byte {
	e.rows = resize(e.rows, int(e.head.Out.Offset-abi.HeaderSize))
	return e.rows[int(s.Offset-abi.HeaderSize)+i*int(s.Stride):]
}

// labels appends a label set, sorted by key, and returns its first pair and its
// count.
func (e *Encoder) labels(set map[string]string) (first, count uint32) {
	first = uint32(len(e.pairs) / abi.PairStride)
	e.keys = slices.AppendSeq(e.keys[:0], maps.Keys(set))
	slices.Sort(e.keys)
	for _, key := range e.keys {
		e.pair(key, set[key])
	}
	return first, uint32(len(set))
}

func (e *Encoder) pair(key, value string) {
	e.pairs = appendU32(appendU32(e.pairs, e.names.call(key)), e.names.call(value))
}

// open returns the reply up to the size of the batch. It uses the header that was
// sent, since the guest may have changed its copy.
func (e *Encoder) open(reply []byte) ([]byte, error) {
	if uint64(len(reply)) < uint64(e.head.Total) {
		return nil, bad("the buffer shrank to %d bytes", len(reply))
	}
	return reply[:e.head.Total], nil
}

func (e *Encoder) out(reply []byte, i int) []byte {
	at := int(e.head.Out.Offset) + i*int(e.head.Out.Stride)
	return reply[at : at+int(e.head.Out.Stride)]
}

// Failure returns the text that a guest left with status Failed or Refused.
func (e *Encoder) Failure(reply []byte) string {
	b, err := e.open(reply)
	if err != nil {
		return ""
	}
	return Clean(e.messages(b).First())
}

func (e *Encoder) messages(reply []byte) abi.Messages {
	return abi.Messages(reply[e.head.Message.Offset : e.head.Message.Offset+e.head.Message.Size])
}

func table(at *uint32, count int, stride uint32) abi.Section {
	s := abi.Section{Offset: *at, Count: uint32(count), Stride: stride}
	s.Size = s.Count * stride
	*at = aligned(*at + s.Size)
	return s
}

// aligned returns the next offset at which a section may start.
func aligned(at uint32) uint32 { return (at + abi.Align - 1) &^ (abi.Align - 1) }

func poolStride(hook abi.Hook) uint32 {
	if hook == abi.HookCeiling {
		return abi.ScopeStride
	}
	return abi.PoolStride
}

func rowStride(hook abi.Hook) uint32 {
	switch hook {
	case abi.HookConsolidate:
		return abi.CandidateStride
	case abi.HookCeiling:
		return abi.LaunchStride
	case abi.HookRank:
		return abi.RankStride
	}
	return 0
}

func capacity(c model.CapacityType) uint8 {
	switch c {
	case model.OnDemand:
		return abi.CapacityOnDemand
	case model.Spot:
		return abi.CapacitySpot
	case model.Reserved:
		return abi.CapacityReserved
	}
	return abi.CapacityUnknown
}

func arch(a string) uint8 {
	switch a {
	case "amd64":
		return abi.ArchAMD64
	case "arm64":
		return abi.ArchARM64
	}
	return abi.ArchUnknown
}

// clamp limits a count to the range of uint32.
func clamp(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// amount reports whether a number is finite and not negative.
func amount(f float64) bool { return f >= 0 && f <= math.MaxFloat64 }

func bad(format string, args ...any) *policy.Fault {
	return &policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf(format, args...)}
}

func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/4)
	}
	return b[:n]
}
