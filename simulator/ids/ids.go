package ids

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Source makes identifiers. The n-th identifier of two sources with one seed is
// the same. It is not safe for concurrent use.
type Source struct {
	seed uint64
	made uint64
}

// NewSource is a source that has made nothing yet.
func NewSource(seed uint64) *Source { return &Source{seed: seed} }

// Hash is a number that depends on the seed and the words alone.
func (s *Source) Hash(words ...string) uint64 {
	sum := s.sum(words)
	return binary.BigEndian.Uint64(sum[:8])
}

// Fixed is an identifier with a prefix ("i", "subnet") and 17 hexadecimal
// digits, which depends on the seed and the words alone.
func (s *Source) Fixed(prefix string, words ...string) string {
	sum := s.sum(append(words, prefix))
	return prefix + "-0" + hex.EncodeToString(sum[:8])
}

// New is an identifier that this source never made before.
func (s *Source) New(prefix string) string { return s.Fixed(prefix, s.next()) }

// Upper is an identifier in IAM's manner: a prefix such as AIPA and 16 capitals
// and digits that the words decide, or that were never used before without any.
func (s *Source) Upper(prefix string, words ...string) string {
	if len(words) == 0 {
		words = []string{s.next()}
	}
	return prefix + strings.ToUpper(strings.TrimPrefix(s.Fixed("x", append(words, prefix)...), "x-0"))
}

// UUID is a new identifier in the form of a UUID.
func (s *Source) UUID() string {
	sum := s.sum([]string{"request", s.next()})
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (s *Source) next() string {
	s.made++
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], s.made)
	return string(n[:])
}

func (s *Source) sum(words []string) [sha256.Size]byte {
	text := binary.BigEndian.AppendUint64(nil, s.seed)
	for _, w := range words {
		text = append(append(text, w...), 0)
	}
	return sha256.Sum256(text)
}

// WellFormed says whether id is prefix and 8 or 17 hexadecimal digits.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
func WellFormed(prefix, id string) bool {
	digits, ok := strings.CutPrefix(id, prefix+"-")
	return ok && (len(digits) == 8 || len(digits) == 17) && strings.Trim(digits, "0123456789abcdef") == ""
}
