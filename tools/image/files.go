package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the unprivileged user and group that the image runs as, the number
// that distroless images use for the same purpose.
const user = 65532

// entrypoint is where the program lies in the image.
const entrypoint = "spokeshave-controller"

// file is one file of the image's file system; owner and group are root, so
// that the program cannot change it.
type file struct {
	name string
	mode int64
	body []byte
}

// baseFiles are the files beside the program: what TLS and a lookup of the own
// user need, and the notices that must travel with the program.
func baseFiles(source string) ([]file, error) {
	files := []file{
		{name: "etc/group", mode: 0o644, body: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)},
		{name: "etc/passwd", mode: 0o644, body: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/:/sbin/nologin\n", user, user)},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, body: roots()},
	}
	for name, from := range map[string]string{
		"LICENSE":        "LICENSE",
		"NOTICE.catalog": "controller/cloud/catalog/data/NOTICE",
	} {
		body, err := os.ReadFile(filepath.Join(source, from))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", from, err)
		}
		files = append(files, file{name: "usr/share/doc/spokeshave/" + name, mode: 0o644, body: body})
	}
	return files, nil
}

// roots is Mozilla's list of certificate authorities in PEM. Authorities that
// it trusts with reservations only are left out: a PEM file cannot say so.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			// Writing to a buffer does not fail.
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}
