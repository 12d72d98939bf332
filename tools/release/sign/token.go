package sign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Variables that identity tokens come from: the token itself, or where the runner of a
// forge's workflow gives one out and what it wants to see for it.
const (
	tokenVariable   = "SIGSTORE_ID_TOKEN"
	requestURL      = "ACTIONS_ID_TOKEN_REQUEST_URL"
	requestPassword = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
)

// audience is who a token has to be for.
const audience = "sigstore"

// ErrNoIdentity says that there is no identity to sign with.
var ErrNoIdentity = errors.New("there is no identity to sign with: set " + tokenVariable + " to an OpenID Connect token for the audience " + audience +
	", give the workflow's job the permission id-token: write, or sign with a key (make release KEY=)")

// hasToken returns ErrNoIdentity unless token will find where to get one.
func hasToken(env func(string) string) error {
	if env(tokenVariable) == "" && (env(requestURL) == "" || env(requestPassword) == "") {
		return ErrNoIdentity
	}
	return nil
}

// token returns the identity token of the environment. A forge's tokens live for minutes;
// they are asked for when they are needed.
func token(ctx context.Context, env func(string) string) (string, error) {
	if err := hasToken(env); err != nil {
		return "", err
	}
	if t := env(tokenVariable); t != "" {
		return t, nil
	}
	at, err := url.Parse(env(requestURL))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", requestURL, err)
	}
	query := at.Query()
	query.Set("audience", audience)
	at.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", fmt.Errorf("ask for an identity token: %w", err)
	}
	request.Header.Set("Authorization", "bearer "+env(requestPassword))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask for an identity token: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read the identity token: %w", err)
	}
	var answer struct{ Value string }
	if response.StatusCode != http.StatusOK || json.Unmarshal(body, &answer) != nil || answer.Value == "" {
		return "", fmt.Errorf("ask for an identity token: %s answered %s without a token: has the job the permission id-token: write?", at.Host, response.Status)
	}
	return answer.Value, nil
}
