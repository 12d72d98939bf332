package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"
)

const (
	mimeNodeConfig = "application/node.eks.aws"
	mimeScript     = `text/x-shellscript; charset="us-ascii"`
	// boundary is the one that EKS itself uses.
	boundary = "//"
)

// part is one document of a MIME archive.
type part struct {
	contentType string
	// encoding is the content transfer encoding, as found.
	encoding string
	body     string
}

func writeArchive(parts []part) (string, error) {
	var out bytes.Buffer
	out.WriteString("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\n\n")
	w := multipart.NewWriter(&out)
	if err := w.SetBoundary(boundary); err != nil {
		return "", fmt.Errorf("write MIME archive: %w", err)
	}
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Type": {p.contentType}}
		if p.encoding != "" {
			header.Set("Content-Transfer-Encoding", p.encoding)
		}
		into, err := w.CreatePart(header)
		if err == nil {
			_, err = io.WriteString(into, p.body)
		}
		if err != nil {
			return "", fmt.Errorf("write MIME archive: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("write MIME archive: %w", err)
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), nil
}

// readArchive takes an archive apart. A missing end marker is forgiven, as
// cloud-init forgives it.
func readArchive(text string) ([]part, error) {
	message, err := mail.ReadMessage(strings.NewReader(text + "\n"))
	if err != nil {
		return nil, fmt.Errorf("read MIME archive: %w", err)
	}
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return nil, fmt.Errorf("read MIME archive: its Content-Type %q: %w", message.Header.Get("Content-Type"), err)
	}
	if !strings.HasPrefix(kind, "multipart/") || params["boundary"] == "" {
		return nil, fmt.Errorf("read MIME archive: Content-Type %q is not multipart with a boundary", kind)
	}
	var out []part
	reader := multipart.NewReader(message.Body, params["boundary"])
	for {
		p, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read MIME archive: part %d: %w", len(out)+1, err)
		}
		body, err := io.ReadAll(p)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("read MIME archive: part %d: %w", len(out)+1, err)
		}
		if len(p.Header) == 0 && len(bytes.TrimSpace(body)) == 0 {
			continue
		}
		out = append(out, part{
			contentType: p.Header.Get("Content-Type"),
			encoding:    p.Header.Get("Content-Transfer-Encoding"),
			body:        string(body),
		})
	}
}
