package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// FuzzReply: whatever a guest leaves behind, reading it neither panics nor
// lets a number through that is not finite and at least 0.
func FuzzReply(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 240, 63}, uint16(0))
	f.Fuzz(func(t *testing.T, noise []byte, at uint16) {
		var e Encoder
		b, err := e.rankBatch(rankInput(2))
		if err != nil {
			t.Fatal(err)
		}
		copy(b[min(int(at), len(b)):], noise)
		if len(noise) >= 4 {
			binary.LittleEndian.PutUint32(b[e.head.Out.Offset+16:], binary.LittleEndian.Uint32(noise))
		}
		answers, err := e.RankAnswers(b, nil)
		if err != nil {
			return
		}
		for _, a := range answers {
			if !amount(a.Score) || len(a.Reason) > abi.MaxMessage+8 || strings.ContainsAny(a.Reason, "\x00\n\x1b") {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// FuzzOtherReplies is the same for the other hooks.
func FuzzOtherReplies(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 240, 63}, uint16(0))
	f.Add(bytes.Repeat([]byte{1}, 24), uint16(600))
	f.Add(bytes.Repeat([]byte{255}, 64), uint16(300))
	f.Fuzz(func(t *testing.T, noise []byte, at uint16) {
		var e Encoder
		b, err := e.consolidateBatch(&policy.ConsolidateInput{Call: call(), Candidates: []policy.Candidate{{Node: "a"}, {Node: "b"}}})
		if err != nil {
			t.Fatal(err)
		}
		copy(b[min(int(at), len(b)):], noise)
		copy(e.out(b, 1), noise)
		answers, err := e.ConsolidateAnswers(b)
		for _, a := range answers {
			if err == nil && (!amount(a.Cost) || !amount(a.HoldSeconds) || a.Verdict == "" || !plain(a.Reason)) {
				t.Fatalf("%+v", a)
			}
		}
		in := &policy.CeilingInput{Call: call(), Scopes: []policy.ScopeSpend{{Scope: "cluster"}}, Launches: make([]policy.Launch, 2)}
		if b, err = e.ceilingBatch(in); err != nil {
			t.Fatal(err)
		}
		copy(b[min(int(at), len(b)):], noise)
		copy(e.out(b, 0), noise)
		copy(e.out(b, 3), noise[len(noise)/2:])
		answer, err := e.CeilingAnswers(b)
		if err != nil {
			return
		}
		for scope, c := range answer.Caps {
			for _, bound := range []*float64{c.HourlyUSD, c.MonthlyUSD, c.SoftHourlyUSD, c.SoftMonthlyUSD} {
				if scope != "cluster" || bound != nil && !amount(*bound) {
					t.Fatalf("%s: %+v", scope, c)
				}
			}
		}
		for i, reasons := range answer.Deny {
			if i < 0 || i > 1 || !plain(reasons[0]) {
				t.Fatalf("launch %d: %q", i, reasons)
			}
		}
	})
}

func plain(reason string) bool {
	return len(reason) <= abi.MaxMessage && !strings.ContainsAny(reason, "\x00\n\x1b")
}
