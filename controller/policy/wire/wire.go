// Package wire translates between the controller's questions and answers and
// the batches of sdk/abi. Whatever comes back from a guest is checked here:
// every number is finite and in range, every offset inside the batch, and
// anything else is a policy.Fault of kind BadReply.
//
// Not here: how the bytes reach a guest (controller/policy/wasm) and how
// answers combine (controller/policy).
package wire

import (
	"fmt"
	"math"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/sdk/abi"
)

// The most rows of a batch, and the bounds of its message area in bytes.
const (
	maxRows      = 1 << 18
	messageBase  = 4 << 10
	messagePer   = 16
	messageLimit = 64 << 10
)

// Encoder writes batches into a buffer that it reuses, and reads the replies
// to them. It belongs to one guest instance: the ids of catalogue strings stay
// the same from batch to batch, until the catalogue's generation changes. It
// is not safe for concurrent use.
type Encoder struct {
	buf   []byte
	head  abi.Header
	names *names
	// catalogue has the strings of batches about offerings, passing those of
	// all others: a batch with few strings must neither carry a catalogue's nor
	// make it forgotten.
	catalogue, passing names
	pairs              []byte
	scopes             []string
}

// begin lays out the parts of a batch whose sizes are known beforehand: pool,
// rows, out and message area. The strings follow in finish.
func (e *Encoder) begin(hook abi.Hook, call *policy.Call, pools, rows, outs int) error {
	if pools+rows > maxRows {
		return fmt.Errorf("encode batch: %d rows, at most %d are sent at once", pools+rows, maxRows)
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
	at += e.head.Message.Size
	e.buf = resize(e.buf, int(at))
	for _, s := range [...]abi.Section{e.head.Pool, e.head.Rows, e.head.Out} { // padding, for equal bytes every time
		end := s.Offset + s.Size
		clear(e.buf[end : (end+abi.Align-1)&^(abi.Align-1)])
	}
	messages := e.buf[e.head.Message.Offset:at]
	clear(messages)
	abi.Messages(messages).Reset()
	return nil
}

// finish appends pairs and strings and writes the header. The batch is valid
// until the next one.
func (e *Encoder) finish() []byte {
	e.head.Pairs = abi.Span{Offset: e.at(), Size: uint32(len(e.pairs))}
	e.buf = append(e.buf, e.pairs...)
	index := abi.Section{Offset: e.at(), Count: uint32(len(e.names.list)), Stride: abi.IndexStride}
	index.Size = index.Count * index.Stride
	e.buf = append(e.buf, e.names.index...)
	e.head.Index = index
	e.head.Bytes = abi.Span{Offset: e.at(), Size: uint32(len(e.names.text))}
	e.buf = append(e.buf, e.names.text...)
	e.head.Total = uint32(len(e.buf))
	e.head.Put(e.buf)
	e.names.end()
	return e.buf
}

// at pads the batch to the alignment of sections.
func (e *Encoder) at() uint32 {
	for len(e.buf)%abi.Align != 0 {
		e.buf = append(e.buf, 0)
	}
	return uint32(len(e.buf))
}

// labels appends a label set, sorted by key, and gives its first pair and count.
func (e *Encoder) labels(set map[string]string) (first, count uint32) {
	first = uint32(len(e.pairs) / abi.PairStride)
	for _, key := range sortedKeys(set) {
		e.pair(key, set[key])
	}
	return first, uint32(len(set))
}

func (e *Encoder) pair(key, value string) {
	e.pairs = appendU32(appendU32(e.pairs, e.names.call(key)), e.names.call(value))
}

// open views a reply through the header that was sent: the guest's own copy
// of it may say anything.
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

// Failure is the text that a guest left with status Failed or Refused.
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
	*at = (*at + s.Size + abi.Align - 1) &^ (abi.Align - 1)
	return s
}

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

// clamp fits a count into the wire's 32 bits.
func clamp(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

// amount says whether a number is finite and not negative.
func amount(f float64) bool { return f >= 0 && !math.IsInf(f, 0) }

func bad(format string, args ...any) *policy.Fault {
	return &policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf(format, args...)}
}

func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/4)
	}
	return b[:n]
}
