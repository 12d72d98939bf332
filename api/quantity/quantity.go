// Package quantity reads Kubernetes quantities that others wrote. It differs from
// resource.ParseQuantity in what it does with an exponent of many digits: the library
// computes a power of ten of that size. Reading 1e-99999999 takes it a minute and a half;
// 1e99999999 is read at once, and adding to it takes as long.
package quantity

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxDigits is how many digits an exponent may have. Quantities go from 1e-9 to 1e18.
const maxDigits = 3

// Parse parses a quantity. An exponent of more than three digits is an error.
func Parse(text string) (resource.Quantity, error) {
	if _, digits := cutExponent(text); len(digits) > maxDigits {
		return resource.Quantity{}, fmt.Errorf("an exponent of more than %d digits", maxDigits)
	}
	return resource.ParseQuantity(text)
}

// Bounded returns a quantity with an exponent of more than three digits as one with the
// exponent 999, which is beyond what a quantity can be as well, and any other text as it is. It is
// for objects of the API server, where an error in one would keep all from being read.
func Bounded(text string) string {
	head, digits := cutExponent(text)
	if len(digits) <= maxDigits {
		return text
	}
	return head + strings.Repeat("9", maxDigits)
}

// cutExponent cuts a text after the e, and the sign, of a decimal exponent, and removes its
// leading zeros. Without an exponent, digits is empty.
func cutExponent(text string) (head, digits string) {
	head = strings.TrimRight(text, "0123456789")
	digits = strings.TrimLeft(text[len(head):], "0")
	mantissa := strings.TrimRight(head, "+-")
	if mantissa == "" || len(head)-len(mantissa) > 1 {
		return text, ""
	}
	if last := mantissa[len(mantissa)-1]; last != 'e' && last != 'E' {
		return text, ""
	}
	return head, digits
}
