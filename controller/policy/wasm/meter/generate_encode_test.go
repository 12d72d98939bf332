package meter

import "encoding/binary"

func list(items [][]byte) []byte { return append(appendU32(nil, uint32(len(items))), cat(items...)...) }

func vector(b []byte) []byte { return append(appendU32(nil, uint32(len(b))), b...) }

func cat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func appendSigned(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendU32(b []byte, n uint32) []byte { return binary.AppendUvarint(b, uint64(n)) }
