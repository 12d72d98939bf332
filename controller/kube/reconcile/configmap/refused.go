package configmap

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"spokeshave.dev/controller/kube/announce"
)

// Refused reports whether an error of a write is an answer of the API server that it will give
// again: admission denies the write, RBAC or a quota forbids it, or the object is not valid. It is false for a write
// that failed for a passing reason: a conflict, an API server or a webhook that does not answer.
func Refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	if strings.Contains(status.Status().Message, webhookDenial) {
		return true
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusGone, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500
	}
}

// webhookDenial is in the message of an error whose code an admission webhook has chosen.
const webhookDenial = "denied the request"

// Reason returns the message of a refusal, without what was written, cut to a length that fits into events.
func Reason(err error) string {
	text := err.Error()
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		text = status.Status().Message
	}
	return announce.Cut(text, announce.NoteLimit/4)
}
