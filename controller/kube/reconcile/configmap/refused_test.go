package configmap

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRefused(t *testing.T) {
	at := schema.GroupResource{Resource: "configmaps"}
	denied := func(code int32, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
	}
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"none":            {reason: "nothing was refused"},
		"forbidden":       {reason: "RBAC, a quota, an admission policy", err: apierrors.NewForbidden(at, "a", errors.New("no")), want: true},
		"invalid":         {reason: "an admission policy answers so by default", err: apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), want: true},
		"wrapped":         {reason: "callers wrap errors", err: fmt.Errorf("write: %w", apierrors.NewForbidden(at, "a", errors.New("no"))), want: true},
		"bare denial":     {reason: "a webhook that gives no code answers with 400", err: denied(http.StatusBadRequest, `admission webhook "w" denied the request: no`), want: true},
		"denial with 429": {reason: "a webhook chooses its code", err: denied(http.StatusTooManyRequests, `admission webhook "w" denied the request: no`), want: true},
		"too large":       {reason: "it is as large the next time", err: apierrors.NewRequestEntityTooLargeError("no"), want: true},
		"conflict":        {reason: "it is read again", err: apierrors.NewConflict(at, "a", errors.New("changed"))},
		"exists":          {reason: "it is read again", err: apierrors.NewAlreadyExists(at, "a")},
		"not found":       {reason: "it is created", err: apierrors.NewNotFound(at, "a")},
		"too many":        {reason: "the API server is busy", err: apierrors.NewTooManyRequests("later", 1)},
		"webhook fails":   {reason: "it may be back soon", err: apierrors.NewInternalError(errors.New("failed calling webhook"))},
		"not reached":     {reason: "nobody answered", err: context.DeadlineExceeded},
		"unauthorized":    {reason: "a token is renewed", err: apierrors.NewUnauthorized("expired")},
	} {
		if got := Refused(tc.err); got != tc.want {
			t.Errorf("%s (%s): refused %v, want %v", name, tc.reason, got, tc.want)
		}
	}
	if got := Reason(denied(http.StatusForbidden, strings.Repeat("ä", 1000))); len(got) > 260 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("reason of %d bytes: %q", len(got), got)
	}
}
