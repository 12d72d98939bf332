package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Fault gives err its kind and AWS's code. An error that has a kind keeps it.
func Fault(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if _, known := errors.AsType[*provider.Error](err); known {
		return fmt.Errorf("%s: %w", what, err)
	}
	kind, code := Classify(err)
	text := what + ": " + brief(err)
	advice := AdviceFor(kind, code)
	if strings.Contains(err.Error(), withoutCredentials) {
		advice = "the controller gets no credentials of AWS; check the role of its service account and whom that role trusts, or its Pod Identity association"
	}
	if advice != "" {
		text += " (" + advice + ")"
	}
	return &provider.Error{Kind: kind, Code: code, Err: &callError{text: text, err: err}}
}

// withoutCredentials is in what the SDK says of a call that it could not sign. It
// has no type for that, and no code.
const withoutCredentials = "get credentials: "

// callError is an error of the SDK in words that do not change from one try to
// the next: they end up in conditions, which are written only when they change.
type callError struct {
	text string
	err  error
}

func (e *callError) Error() string { return e.text }

func (e *callError) Unwrap() error { return e.err }

// brief leaves out request ids and encoded authorization messages.
func brief(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err.Error()
	}
	message, _, _ := strings.Cut(api.ErrorMessage(), " Encoded authorization failure message")
	if message == "" {
		return api.ErrorCode()
	}
	return strings.TrimSuffix(message, ".")
}

// Refuse makes an error of a kind without a code, for what is found without asking AWS.
func Refuse(kind provider.Kind, format string, args ...any) error {
	return &provider.Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Classify finds the kind and the code of an error from the SDK. What has no
// code, and every 5xx, may have taken effect: Unavailable.
func Classify(err error) (provider.Kind, string) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return provider.Unavailable, ""
	}
	code := api.ErrorCode()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return provider.Unavailable, code
	}
	if kind, ok := KindOfCode(code); ok {
		return kind, code
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		switch status := response.HTTPStatusCode(); {
		case status == http.StatusTooManyRequests:
			return provider.Throttled, code
		case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
			return provider.Unavailable, code
		}
	}
	if api.ErrorFault() == smithy.FaultServer {
		return provider.Unavailable, code
	}
	return provider.Invalid, code
}

// SoldOut makes an error of kind InsufficientCapacity that names the offerings concerned.
func SoldOut(offerings []model.Option, code string, err error) error {
	return &provider.Error{Kind: provider.InsufficientCapacity, Code: code, Offerings: offerings, Err: err}
}

// Unkinded strips an error of its kind, for one that is given another.
func Unkinded(err error) error {
	if known, ok := errors.AsType[*provider.Error](err); ok {
		return known.Err
	}
	return err
}

// Gone takes NotFound for success: nil for it, err for any other.
func Gone(err error) error {
	if err != nil && provider.KindOf(err) == provider.NotFound {
		return nil
	}
	return err
}
