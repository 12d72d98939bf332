package take

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// page is the largest number of objects per request.
const page = "500"

// lister lists objects, page by page.
type lister struct {
	client rest.Interface
	// missed describes the lists that were refused or do not exist.
	missed []string
}

// list reads all objects at a path. When optional is set, a list that the user may not
// read, or that the server does not have, is recorded in missed and left out.
func list[T any](ctx context.Context, l *lister, path, selector string, optional bool) ([]*T, error) {
	var out []*T
	token := ""
	for {
		req := l.client.Get().AbsPath(path).Param("limit", page).SetHeader("Accept", "application/json")
		if token != "" {
			req = req.Param("continue", token)
		}
		if selector != "" {
			req = req.Param("labelSelector", selector)
		}
		raw, err := req.Do(ctx).Raw()
		err = refusal(raw, err)
		switch {
		case optional && (apierrors.IsForbidden(err) || apierrors.IsNotFound(err)):
			l.missed = append(l.missed, fmt.Sprintf("%s is left out: %s", path, apierrors.ReasonForError(err)))
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		var got struct {
			Metadata metav1.ListMeta `json:"metadata"`
			Items    []*T            `json:"items"`
		}
		// Unknown fields are ignored: a newer API server may have more fields.
		if err := json.Unmarshal(raw, &got); err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		out = append(out, got.Items...)
		if token = got.Metadata.Continue; token == "" {
			return out, nil
		}
	}
}

// refusal returns an error with the API server's message about a failed request, which
// the client's own error leaves out.
func refusal(body []byte, err error) error {
	var status metav1.Status
	if err == nil || json.Unmarshal(body, &status) != nil || status.Message == "" {
		return err
	}
	return &apierrors.StatusError{ErrStatus: status}
}
