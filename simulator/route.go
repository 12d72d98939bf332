package simulator

import (
	"mime"
	"net/http"
	"net/url"
	"strings"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/eks"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/query"
	"spokeshave.dev/simulator/signature"
	"spokeshave.dev/simulator/wire"
	"spokeshave.dev/simulator/zonalshift"
)

// route reads service, action and parameters of a request into c, and finds the
// format of the answer, which is never nil. The service is the one in the
// credential scope, as for AWS's own routing.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-signing-elements.html
func route(c *operation.Call, r *http.Request, served string) (wire.Format, error) {
	scope, scopeErr := signature.Read(r.Header.Get("Authorization"))
	c.Service, c.Region, c.AccessKey = scope.Service, scope.Region, scope.AccessKey
	format, err := readAction(c, r)
	switch {
	case scopeErr != nil:
		return format, scopeErr
	case err != nil:
		return format, err
	default:
		return format, scope.Check(served)
	}
}

func readAction(c *operation.Call, r *http.Request) (format wire.Format, err error) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		format = wire.JSON{ContentType: r.Header.Get("Content-Type"), QueryNames: r.Header.Get("X-Amzn-Query-Mode") == "true"}
		_, action, found := strings.Cut(target, ".")
		if !found {
			return format, awserr.New("UnknownOperationException", "the header X-Amz-Target has no operation: %q", target)
		}
		c.Action = action
		return format, nil
	}
	switch c.Service {
	case "eks":
		c.Action, c.Path, err = eks.Route(r)
		return wire.REST{}, err
	case "arc-zonal-shift":
		c.Action, c.Path, err = zonalshift.Route(r)
		return wire.REST{}, err
	}
	return queryFormat(c.Service), readForm(c, r)
}

func queryFormat(service string) wire.Format {
	switch service {
	case "iam":
		return wire.Query{Namespace: "https://iam.amazonaws.com/doc/2010-05-08/"}
	case "sts":
		return wire.Query{Namespace: "https://sts.amazonaws.com/doc/2011-06-15/"}
	default:
		return wire.EC2{}
	}
}

func readForm(c *operation.Call, r *http.Request) error {
	values, err := formValues(r, c.Body)
	if err != nil {
		return err
	}
	if c.Form, err = query.Parse(values); err != nil {
		return err
	}
	c.Action = c.Form.Take("Action")
	c.Form.Take("Version")
	if c.Action == "" {
		return awserr.New("MissingAction", "The request is missing an action")
	}
	return nil
}

func formValues(r *http.Request, body []byte) (url.Values, error) {
	if r.Method == http.MethodGet {
		return r.URL.Query(), nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, awserr.New("MalformedQueryString", "send the parameters as application/x-www-form-urlencoded, not %q", r.Header.Get("Content-Type"))
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, awserr.New("MalformedQueryString", "The query string contains a syntax error: %v", err)
	}
	return values, nil
}
