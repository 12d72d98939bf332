package sigstoretest

import (
	"crypto"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/digitorus/timestamp"
	"github.com/go-openapi/runtime"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	"github.com/sigstore/sigstore-go/pkg/tlog"

	// The kinds of entries that the log takes.
	_ "github.com/sigstore/rekor/pkg/types/dsse/v0.0.1"
	_ "github.com/sigstore/rekor/pkg/types/hashedrekord/v0.0.1"
)

// enter puts a signature into the log. Reading the entry verifies the signature in it.
func (s *Sigstore) enter(w http.ResponseWriter, r *http.Request) error {
	proposed, err := models.UnmarshalProposedEntry(r.Body, runtime.JSONConsumer())
	if err != nil {
		return refusal("the entry is none: " + err.Error())
	}
	entry, err := types.CreateVersionedEntry(proposed)
	if err != nil {
		return refusal("the entry is refused: " + err.Error())
	}
	body, err := types.CanonicalizeEntry(r.Context(), entry)
	if err != nil {
		return refusal("the entry is refused: " + err.Error())
	}
	id, err := s.log.RekorLogID()
	if err != nil {
		return err
	}
	at, index := time.Now().Unix(), int64(0)
	payload := tlog.RekorPayload{Body: base64.StdEncoding.EncodeToString(body), IntegratedTime: at, LogID: id, LogIndex: index}
	timestamp, err := s.log.RekorSignPayload(payload)
	if err != nil {
		return err
	}
	proof, err := s.log.GetInclusionProof(body)
	if err != nil {
		return err
	}
	s.Entries++
	name := fmt.Sprintf("%064x", s.Entries)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", name)
	w.Header().Set("Location", "/api/v1/log/entries/"+name)
	w.WriteHeader(http.StatusCreated)
	return json.NewEncoder(w).Encode(models.LogEntry{name: models.LogEntryAnon{
		Body: payload.Body, IntegratedTime: &at, LogID: &id, LogIndex: &index,
		Verification: &models.LogEntryAnonVerification{InclusionProof: proof, SignedEntryTimestamp: timestamp},
	}})
}

// stamp says when it saw a digest.
func (s *Sigstore) stamp(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	request, err := timestamp.ParseRequest(body)
	if err != nil {
		return refusal("the request is none for a time stamp")
	}
	stamp := timestamp.Timestamp{
		HashAlgorithm: request.HashAlgorithm, HashedMessage: request.HashedMessage, Time: time.Now(),
		Policy: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 2}, Nonce: request.Nonce,
	}
	text, err := stamp.CreateResponseWithOpts(s.stamperLeaf, s.stamperKey, crypto.SHA256)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/timestamp-reply")
	_, err = w.Write(text)
	return err
}
