package oci

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

// Entrypoint is where the program lies in the image.
const Entrypoint = "spokeshave-controller"

// docs is the folder of licences and notices in the image.
const docs = "usr/share/doc/spokeshave/"

// File is one file of a layer or archive; owner and group are root.
type File struct {
	// Name is its path without a leading slash. A folder's name ends in one.
	Name string
	// Mode are its permissions.
	Mode int64
	Body []byte
}

// BaseFiles are the files of the image beside the program: what TLS and a lookup of
// the own user need, and the notices that must travel with the program. source is
// the root of the product's module.
func BaseFiles(source string) ([]File, error) {
	files := []File{
		{Name: "etc/group", Mode: 0o644, Body: fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)},
		{Name: "etc/passwd", Mode: 0o644, Body: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/:/sbin/nologin\n", user, user)},
		{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Body: roots()},
	}
	own, err := OwnNotices(source)
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		f.Name = docs + f.Name
		files = append(files, f)
	}
	return files, nil
}

// OwnNotices are the product's licence, and the notice of the data embedded in it.
func OwnNotices(source string) ([]File, error) {
	var files []File
	for _, f := range [][2]string{{"LICENSE", "LICENSE"}, {"NOTICE.catalog", "controller/cloud/catalog/data/NOTICE"}} {
		body, err := os.ReadFile(filepath.Join(source, filepath.FromSlash(f[1])))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f[1], err)
		}
		files = append(files, File{Name: f[0], Mode: 0o644, Body: body})
	}
	return files, nil
}

// Notices is the file of the image with the notices of what is linked into the program.
func Notices(text []byte) File {
	return File{Name: docs + "THIRD_PARTY_NOTICES", Mode: 0o644, Body: text}
}

// Program is the program as a file of the image.
func Program(binary []byte) File { return File{Name: Entrypoint, Mode: 0o755, Body: binary} }

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
