package take

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// page is how many objects one request brings.
const page = "500"

// lister asks for lists, page by page.
type lister struct {
	client rest.Interface
	// missed says which lists were refused or do not exist.
	missed []string
}

// list reads all objects of a path. Optional lists that the user may not read,
// or the server does not have, are noted and left out.
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
		// Not strictly: a newer API server may know more fields than we do.
		if err := json.Unmarshal(raw, &got); err != nil {
			return nil, fmt.Errorf("list %s: %w", path, err)
		}
		out = append(out, got.Items...)
		if token = got.Metadata.Continue; token == "" {
			return out, nil
		}
	}
}

// refusal is what the API server says of a request that failed, which the
// client's own error for it leaves out.
func refusal(body []byte, err error) error {
	var status metav1.Status
	if err == nil || json.Unmarshal(body, &status) != nil || status.Message == "" {
		return err
	}
	return &apierrors.StatusError{ErrStatus: status}
}
