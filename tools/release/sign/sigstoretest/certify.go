package sigstoretest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"time"

	ct "github.com/google/certificate-transparency-go"
	"github.com/google/certificate-transparency-go/tls"
	"github.com/google/certificate-transparency-go/x509util"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
)

// certify issues a certificate for the key in the request to who the token is of.
func (s *Sigstore) certify(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Authorization") != "Bearer "+Token() {
		return refusal("the token is not valid")
	}
	var request struct {
		PublicKeyRequest struct {
			PublicKey         struct{ Content string }
			ProofOfPossession []byte
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return refusal("the request is no JSON")
	}
	public, err := cryptoutils.UnmarshalPEMToPublicKey([]byte(request.PublicKeyRequest.PublicKey.Content))
	if err != nil {
		return refusal("the request has no public key")
	}
	subject := sha256.Sum256([]byte("repo:acme/spokeshave"))
	if k, ok := public.(*ecdsa.PublicKey); !ok || !ecdsa.VerifyASN1(k, subject[:], request.PublicKeyRequest.ProofOfPossession) {
		return refusal("who asks does not have the private key")
	}
	leaf, err := s.leaf(public)
	if err != nil {
		return err
	}
	s.Certificates++
	var chain []string
	for _, der := range [][]byte{leaf, s.authority.cert.Raw, s.authority.root.Raw} {
		chain = append(chain, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	}
	return json.NewEncoder(w).Encode(map[string]any{"signedCertificateEmbeddedSct": map[string]any{"chain": map[string]any{"certificates": chain}}})
}

// Extensions of certificates: who vouches for the identity, and that a log has the certificate.
var (
	issuerExtension    = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}    //nolint:gochecknoglobals // constants of ASN.1
	timestampExtension = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 4, 2} //nolint:gochecknoglobals // constants of ASN.1
)

// leaf returns a certificate with the signed certificate timestamp (SCT) of the certificate log in it.
func (s *Sigstore) leaf(public crypto.PublicKey) ([]byte, error) {
	identity := Identity
	if s.Stolen != "" {
		identity = s.Stolen
	}
	who, err := url.Parse(identity)
	if err != nil {
		return nil, err
	}
	issuer, err := asn1.MarshalWithParams(Issuer, "utf8")
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), URIs: []*url.URL{who},
		NotBefore: now.Add(-time.Minute), NotAfter: now.Add(10 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		ExtraExtensions: []pkix.Extension{{Id: issuerExtension, Value: issuer}},
	}
	without, err := x509.CreateCertificate(rand.Reader, template, s.authority.cert, public, s.authority.key)
	if err != nil {
		return nil, err
	}
	timestamps, err := s.timestamps(without, now)
	if err != nil {
		return nil, err
	}
	template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{Id: timestampExtension, Value: timestamps})
	return x509.CreateCertificate(rand.Reader, template, s.authority.cert, public, s.authority.key)
}

// timestamps returns the list with the log's SCT of a certificate that lacks it, as RFC 6962
// encodes it.
func (s *Sigstore) timestamps(der []byte, now time.Time) ([]byte, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	sct := ct.SignedCertificateTimestamp{SCTVersion: ct.V1, LogID: ct.LogID{KeyID: s.transparencyID}, Timestamp: uint64(now.UnixMilli())}
	signed, err := ct.SerializeSCTSignatureInput(sct, ct.LogEntry{Leaf: ct.MerkleTreeLeaf{
		Version: ct.V1, LeafType: ct.TimestampedEntryLeafType,
		TimestampedEntry: &ct.TimestampedEntry{
			Timestamp: sct.Timestamp, EntryType: ct.PrecertLogEntryType,
			PrecertEntry: &ct.PreCert{IssuerKeyHash: sha256.Sum256(s.authority.cert.RawSubjectPublicKeyInfo), TBSCertificate: cert.RawTBSCertificate},
		},
	}})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(signed)
	signature, err := ecdsa.SignASN1(rand.Reader, s.transparency, sum[:])
	if err != nil {
		return nil, err
	}
	sct.Signature = ct.DigitallySigned{Algorithm: tls.SignatureAndHashAlgorithm{Hash: tls.SHA256, Signature: tls.ECDSA}, Signature: signature}
	list, err := x509util.MarshalSCTsIntoSCTList([]*ct.SignedCertificateTimestamp{&sct})
	if err != nil {
		return nil, err
	}
	text, err := tls.Marshal(*list)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(text)
}

// RequestServer gives the token out as the runner of a workflow does, for a job with the
// permission to ask.
func RequestServer(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "bearer job" || r.URL.Query().Get("audience") != "sigstore" || !strings.HasPrefix(r.URL.Path, "/token") {
		http.Error(w, "forbidden", http.StatusForbidden)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"value": Token()})
}
