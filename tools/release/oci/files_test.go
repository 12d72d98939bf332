package oci

import (
	"crypto/x509"
	"encoding/pem"
	"testing"
)

func TestRoots(t *testing.T) {
	subjects := map[string]bool{}
	for rest := roots(); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		subjects[c.Subject.CommonName] = true
	}
	for _, want := range []string{"Amazon Root CA 1", "Amazon Root CA 3", "ISRG Root X1"} {
		if !subjects[want] {
			t.Errorf("%s is missing among %d authorities", want, len(subjects))
		}
	}
}
