package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// MaxTexts is the most bytes that the texts of one reply may take. Reasons beyond it
// are left out.
const MaxTexts = 1 << 20

// A reply holds the whole answer to a question: five counts of 4 bytes (see the
// constants), the records of sdk/abi, the refusals of launches (8 bytes each: the
// launch and its reason), and the texts that records refer to, as abi.Messages.
const (
	replyStatus = 4 * iota
	replyRows
	replyCaps
	replyDenied
	replyTexts
	replyHead
	deniedStride = 8
)

// What a reply says.
const (
	statusAnswer = iota
	statusNoOpinion
	// statusFault has the offsets of three texts in place of the counts: the fault's
	// kind, its message, and what stands before it in the error.
	statusFault
	// statusNoCaps is an answer whose caps are nil, rather than empty.
	statusNoCaps
)

// Replier writes replies. The zero value works; it is not safe for concurrent use.
type Replier struct {
	out   []byte
	texts texts
}

func (r *Replier) begin(status, rows, caps, denied int) {
	r.texts.reset()
	r.head(status, rows, caps, denied)
}

func (r *Replier) head(status, rows, caps, denied int) {
	r.out = append(r.out[:0], make([]byte, replyHead)...)
	for i, n := range [...]int{status, rows, caps, denied} {
		binary.LittleEndian.PutUint32(r.out[4*i:], uint32(n))
	}
}

// record appends n bytes and returns them.
func (r *Replier) record(n int) []byte {
	r.out = slices.Grow(r.out, n)[:len(r.out)+n]
	return r.out[len(r.out)-n:]
}

func (r *Replier) finish() []byte {
	area := r.texts.area
	binary.LittleEndian.PutUint32(area, uint32(len(area)))
	binary.LittleEndian.PutUint32(r.out[replyTexts:], uint32(len(area)))
	r.out = append(r.out, area...)
	return r.out
}

// Error returns the reply for a policy that gave no answer. The bytes are valid until
// the next reply, as those of the other methods are.
func (r *Replier) Error(err error) []byte {
	if errors.Is(err, policy.ErrNoOpinion) {
		r.begin(statusNoOpinion, 0, 0, 0)
		return r.finish()
	}
	fault := &policy.Fault{Kind: policy.FaultInternal, Message: err.Error()}
	before := ""
	if errors.As(err, &fault) {
		before = strings.TrimSuffix(err.Error(), fault.Error())
	}
	r.texts.reset()
	kind, message, prefix := r.texts.add(string(fault.Kind)), r.texts.add(fault.Message), r.texts.add(before)
	r.head(statusFault, int(kind), int(message), int(prefix))
	return r.finish()
}

// Rank returns the reply with the answers to a rank question.
func (r *Replier) Rank(answers []policy.RankAnswer) []byte {
	r.begin(statusAnswer, len(answers), 0, 0)
	for i := range answers {
		a := &answers[i]
		out := abi.RankOut{Score: a.Score, MaxNodes: a.MaxNodes, Group: a.Group, Reason: r.texts.add(a.Reason)}
		if a.Exclude {
			out.Flags |= abi.RankExclude
		}
		if a.Shared {
			out.Flags |= abi.RankShared
		}
		out.Put(r.record(abi.RankOutStride))
	}
	return r.finish()
}

// Consolidate returns the reply with the answers to a consolidate question.
func (r *Replier) Consolidate(answers []policy.ConsolidateAnswer) []byte {
	r.begin(statusAnswer, len(answers), 0, 0)
	for i := range answers {
		a := &answers[i]
		out := abi.ConsolidateOut{HoldSeconds: a.HoldSeconds, Cost: a.Cost, Verdict: verdictOf(a.Verdict), Reason: r.texts.add(a.Reason)}
		out.Put(r.record(abi.ConsolidateOutStride))
	}
	return r.finish()
}

func verdictOf(v policy.Verdict) uint32 {
	switch v {
	case policy.Allow:
		return abi.VerdictAllow
	case policy.Hold:
		return abi.VerdictHold
	case policy.Deny:
	}
	return abi.VerdictDeny
}

// Ceiling returns the reply with the answer to a ceiling question: two records for each
// scope with a cap, of which the second has the soft bounds beside hard ones, and whose
// reason is the scope's name.
func (r *Replier) Ceiling(a *policy.CeilingAnswer) []byte {
	denied := 0
	for _, reasons := range a.Deny {
		denied += len(reasons)
	}
	status := statusAnswer
	if a.Caps == nil {
		status = statusNoCaps
	}
	r.begin(status, 0, len(a.Caps), denied)
	for scope, c := range a.Caps {
		hard := boundsOut(c.HourlyUSD, c.MonthlyUSD)
		if hard.Reason = r.texts.add(scope); c.Soft {
			hard.Flags |= abi.CeilingSoft
		}
		soft := boundsOut(c.SoftHourlyUSD, c.SoftMonthlyUSD)
		hard.Put(r.record(abi.CeilingOutStride))
		soft.Put(r.record(abi.CeilingOutStride))
	}
	for launch, reasons := range a.Deny {
		for _, reason := range reasons {
			b := r.record(deniedStride)
			binary.LittleEndian.PutUint32(b, uint32(launch))
			binary.LittleEndian.PutUint32(b[4:], r.texts.add(reason))
		}
	}
	return r.finish()
}

func boundsOut(hourly, monthly *float64) abi.CeilingOut {
	var out abi.CeilingOut
	if hourly != nil {
		out.HourlyUSD, out.Flags = *hourly, out.Flags|abi.CeilingHourly
	}
	if monthly != nil {
		out.MonthlyUSD, out.Flags = *monthly, out.Flags|abi.CeilingMonthly
	}
	return out
}

// texts builds the texts of a reply: abi.Messages in which each text stands once.
type texts struct {
	area []byte
	seen map[string]uint32
}

func (t *texts) reset() {
	if t.seen == nil || len(t.seen) > 1<<12 {
		t.seen = map[string]uint32{}
	}
	clear(t.seen)
	t.area = append(t.area[:0], 0, 0, 0, 0)
}

// add returns the offset of a text, cut to abi.MaxMessage bytes; 0 for none.
func (t *texts) add(text string) uint32 {
	if len(text) > abi.MaxMessage {
		text = strings.Clone(text[:abi.MaxMessage]) // the rest of it is not kept until the next reply
	}
	if text == "" {
		return 0
	}
	if at, ok := t.seen[text]; ok {
		return at
	}
	if len(t.area)+4+len(text)+3 > MaxTexts {
		return 0
	}
	at := uint32(len(t.area))
	t.area = binary.LittleEndian.AppendUint32(t.area, uint32(len(text)))
	t.area = append(t.area, text...)
	for len(t.area)%4 != 0 {
		t.area = append(t.area, 0)
	}
	t.seen[text] = at
	return at
}

// failed reads the fault or the refusal in a reply, nil when it has an answer.
func (r *reply) failed() error {
	switch r.status {
	case statusAnswer, statusNoCaps:
		return nil
	case statusNoOpinion:
		return policy.ErrNoOpinion
	case statusFault:
		var parts [3]string
		for i, at := range [3]int{r.rows, r.caps, r.denied} {
			raw, err := r.texts.At(uint32(at))
			if err != nil {
				return bad("a fault: %v", err)
			}
			parts[i] = Clean(raw)
		}
		fault := &policy.Fault{Kind: known(parts[0]), Message: parts[1]}
		if parts[2] == "" {
			return fault
		}
		return fmt.Errorf("%s %w", parts[2], fault) // Clean has cut the space
	}
	return bad("unknown status %d", r.status)
}

// known returns the fault kind of that name, FaultInternal for none.
func known(kind string) policy.FaultKind {
	for _, k := range []policy.FaultKind{
		policy.FaultTrap, policy.FaultFuel, policy.FaultDepth, policy.FaultDeadline, policy.FaultMemory, policy.FaultBadReply,
	} {
		if kind == string(k) {
			return k
		}
	}
	return policy.FaultInternal
}

var errReply = errors.New("the reply is cut")

// reply is a reply's parts. Nothing in it is believed beyond its bounds.
type reply struct {
	status, rows, caps, denied int
	records                    []byte
	texts                      abi.Messages
}

// openReply splits a reply whose rows have a stride of so many bytes.
func openReply(b []byte, stride int) (*reply, error) {
	if len(b) < replyHead {
		return nil, bad("%v", errReply)
	}
	n := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	r := &reply{status: n(replyStatus), rows: n(replyRows), caps: n(replyCaps), denied: n(replyDenied)}
	end := replyHead
	if r.status != statusFault {
		if most := len(b); r.rows > most || r.caps > most || r.denied > most {
			return nil, bad("%v", errReply)
		}
		end += r.rows*stride + r.caps*2*abi.CeilingOutStride + r.denied*deniedStride
	}
	if n(replyTexts) > MaxTexts || end+n(replyTexts) != len(b) {
		return nil, bad("%v", errReply)
	}
	r.records, r.texts = b[replyHead:end], abi.Messages(b[end:])
	return r, r.failed()
}

// reasonTable reads texts, each of them once.
type reasonTable struct {
	texts abi.Messages
	known map[uint32]string
}

func (t *reasonTable) at(offset uint32) (string, error) {
	if offset == 0 {
		return "", nil
	}
	if text, ok := t.known[offset]; ok {
		return text, nil
	}
	raw, err := t.texts.At(offset)
	if err != nil {
		return "", fmt.Errorf("a reason: %w", err)
	}
	text := Clean(raw)
	t.known[offset] = text
	return text, nil
}
