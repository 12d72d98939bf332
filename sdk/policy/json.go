package policy

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A reader of JSON without reflection. encoding/json, and fmt too, would add
// half to the size of every module: nothing in this package imports them.

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

func (k kind) String() string {
	return [...]string{"null", "a truth value", "a number", "a text", "a list of texts", "an object"}[k]
}

type value struct {
	kind   kind
	number float64 // 1 for true
	text   string
	items  []value
	fields map[string]value
}

const maxDepth = 32

type parser struct {
	b  []byte
	at int
}

func parseJSON(b []byte) (value, error) {
	p := &parser{b: b}
	v, err := p.value(0)
	if err == nil && p.peek() != 0 {
		err = errors.New("text after the end")
	}
	if err != nil {
		return value{}, errors.New("byte " + strconv.Itoa(p.at) + ": " + err.Error())
	}
	return v, nil
}

// peek skips blanks and gives the next byte, 0 at the end.
func (p *parser) peek() byte {
	for ; p.at < len(p.b); p.at++ {
		switch p.b[p.at] {
		case ' ', '\t', '\r', '\n':
		default:
			return p.b[p.at]
		}
	}
	return 0
}

func (p *parser) accept(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) (value, error) {
	if depth > maxDepth {
		return value{}, errors.New("nested too deeply")
	}
	switch p.peek() {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	case '"':
		s, err := p.text()
		return value{kind: text, text: s}, err
	}
	return p.word()
}

func (p *parser) object(depth int) (value, error) {
	v := value{kind: object, fields: map[string]value{}}
	p.at++
	if p.accept('}') {
		return v, nil
	}
	for {
		if p.peek() != '"' {
			return v, errors.New("a key is missing")
		}
		key, err := p.text()
		if err != nil {
			return v, err
		}
		if !p.accept(':') {
			return v, errors.New("a colon is missing")
		}
		if v.fields[key], err = p.value(depth + 1); err != nil {
			return v, err
		}
		if p.accept('}') {
			return v, nil
		}
		if !p.accept(',') {
			return v, errors.New("a comma is missing")
		}
	}
}

func (p *parser) list(depth int) (value, error) {
	v := value{kind: list}
	p.at++
	if p.accept(']') {
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
		if p.accept(']') {
			return v, nil
		}
		if !p.accept(',') {
			return v, errors.New("a comma is missing")
		}
	}
}

func (p *parser) word() (value, error) {
	start := p.at
	for p.at < len(p.b) {
		c := p.b[p.at]
		if c <= ' ' || c == ',' || c == ']' || c == '}' || c == ':' {
			break
		}
		p.at++
	}
	switch w := string(p.b[start:p.at]); w {
	case "null":
		return value{}, nil
	case "true":
		return value{kind: boolean, number: 1}, nil
	case "false":
		return value{kind: boolean}, nil
	default:
		f, err := strconv.ParseFloat(w, 64)
		if err != nil || w[0] != '-' && (w[0] < '0' || w[0] > '9') {
			return value{}, errors.New(strconv.Quote(w) + " is not a value")
		}
		return value{kind: number, number: f}, nil
	}
}

func (p *parser) text() (string, error) {
	p.at++
	var out []byte
	for p.at < len(p.b) {
		c := p.b[p.at]
		p.at++
		switch {
		case c == '"':
			return string(out), nil
		case c < ' ':
			return "", errors.New("a control character in a text")
		case c != '\\':
			out = append(out, c)
		default:
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		}
	}
	return "", errors.New("a text without an end")
}

func (p *parser) escape(out []byte) ([]byte, error) {
	if p.at >= len(p.b) {
		return nil, errors.New("a text without an end")
	}
	c := p.b[p.at]
	p.at++
	switch c {
	case '"', '\\', '/':
		return append(out, c), nil
	case 'b':
		return append(out, '\b'), nil
	case 'f':
		return append(out, '\f'), nil
	case 'n':
		return append(out, '\n'), nil
	case 'r':
		return append(out, '\r'), nil
	case 't':
		return append(out, '\t'), nil
	case 'u':
		r, err := p.unit()
		if err != nil {
			return nil, err
		}
		if utf16.IsSurrogate(r) && p.at+1 < len(p.b) && p.b[p.at] == '\\' && p.b[p.at+1] == 'u' {
			p.at += 2
			low, err := p.unit()
			if err != nil {
				return nil, err
			}
			r = utf16.DecodeRune(r, low)
		}
		return utf8.AppendRune(out, r), nil
	}
	return nil, errors.New("an unknown escape")
}

func (p *parser) unit() (rune, error) {
	if p.at+4 > len(p.b) {
		return 0, errors.New("a text without an end")
	}
	n, err := strconv.ParseUint(string(p.b[p.at:p.at+4]), 16, 16)
	if err != nil {
		return 0, errors.New("an unknown escape")
	}
	p.at += 4
	return rune(n), nil
}
