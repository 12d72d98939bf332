package sim

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// protocol is one of the wire formats of AWS.
type protocol interface {
	answer(w http.ResponseWriter, c *call, result any)
	refuse(w http.ResponseWriter, c *call, f *APIError)
}

// identify finds service, action and protocol. The service is the one in the
// credential scope of the Authorization header, as for AWS's own routing.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-signing-elements.html
func (s *Server) identify(c *call, r *http.Request, body []byte) (protocol, error) {
	c.id = s.requestID()
	c.body = body
	scopeErr := c.readScope(r.Header.Get("Authorization"))
	p, err := c.readAction(r)
	switch {
	case scopeErr != nil:
		return p, scopeErr
	case err != nil:
		return p, err
	default:
		return p, s.checkRegion(c)
	}
}

func (c *call) readAction(r *http.Request) (protocol, error) {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		_, action, found := strings.Cut(target, ".")
		p := jsonProtocol{contentType: r.Header.Get("Content-Type"), queryNames: r.Header.Get("X-Amzn-Query-Mode") == "true"}
		if !found {
			return p, failf("UnknownOperationException", "the header X-Amz-Target has no operation: %q", target)
		}
		c.action = action
		return p, nil
	}
	switch c.service {
	case "eks":
		return restProtocol{}, c.readPath(r)
	case "arc-zonal-shift":
		return restProtocol{}, c.readResource(r)
	}
	values, err := formValues(r, c.body)
	if err != nil {
		return c.queryProtocol(), err
	}
	c.form, err = parseForm(values)
	if err != nil {
		return c.queryProtocol(), err
	}
	c.action = c.form.take("Action")
	c.form.take("Version")
	if c.action == "" {
		return c.queryProtocol(), failf("MissingAction", "The request is missing an action")
	}
	return c.queryProtocol(), nil
}

func formValues(r *http.Request, body []byte) (url.Values, error) {
	if r.Method == http.MethodGet {
		return r.URL.Query(), nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, failf("MalformedQueryString", "send the parameters as application/x-www-form-urlencoded, not %q", r.Header.Get("Content-Type"))
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, failf("MalformedQueryString", "The query string contains a syntax error: %v", err)
	}
	return values, nil
}

func (c *call) queryProtocol() protocol {
	switch c.service {
	case "iam":
		return queryProtocol{namespace: "https://iam.amazonaws.com/doc/2010-05-08/"}
	case "sts":
		return queryProtocol{namespace: "https://sts.amazonaws.com/doc/2011-06-15/"}
	default:
		return ec2Protocol{}
	}
}

// ec2Protocol answers with the result's members directly in the response.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html#api-error-response
type ec2Protocol struct{}

func (ec2Protocol) answer(w http.ResponseWriter, c *call, result any) {
	writeXML(w, c, http.StatusOK, xmlParts{
		open:  "<" + c.action + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>` + c.id + "</requestId>",
		body:  result,
		close: "</" + c.action + "Response>",
	})
}

func (ec2Protocol) refuse(w http.ResponseWriter, c *call, f *APIError) {
	type failure struct{ Code, Message string }
	writeXML(w, c, f.status(), xmlParts{
		open:  "<Response><Errors><Error>",
		body:  failure{f.Code, f.Message},
		close: "</Error></Errors><RequestID>" + c.id + "</RequestID></Response>",
	})
}

// queryProtocol is that of IAM and STS.
// https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html
type queryProtocol struct{ namespace string }

func (p queryProtocol) answer(w http.ResponseWriter, c *call, result any) {
	writeXML(w, c, http.StatusOK, xmlParts{
		open:  "<" + c.action + `Response xmlns="` + p.namespace + `"><` + c.action + "Result>",
		body:  result,
		close: "</" + c.action + "Result><ResponseMetadata><RequestId>" + c.id + "</RequestId></ResponseMetadata></" + c.action + "Response>",
	})
}

func (p queryProtocol) refuse(w http.ResponseWriter, c *call, f *APIError) {
	type failure struct{ Type, Code, Message string }
	kind := "Sender"
	if f.status() >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	writeXML(w, c, f.status(), xmlParts{
		open:  `<ErrorResponse xmlns="` + p.namespace + `"><Error>`,
		body:  failure{kind, f.Code, f.Message},
		close: "</Error><RequestId>" + c.id + "</RequestId></ErrorResponse>",
	})
}

// xmlParts is a document of which only the middle varies in shape.
type xmlParts struct {
	open  string
	body  any
	close string
}

func writeXML(w http.ResponseWriter, c *call, status int, parts xmlParts) {
	const wrap = "x"
	var b bytes.Buffer
	if err := xml.NewEncoder(&b).EncodeElement(parts.body, xml.StartElement{Name: xml.Name{Local: wrap}}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	inner := bytes.TrimSuffix(bytes.TrimPrefix(b.Bytes(), []byte("<"+wrap+">")), []byte("</"+wrap+">"))
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.Header().Set("X-Amzn-Requestid", c.id)
	w.WriteHeader(status)
	for _, part := range [][]byte{[]byte(xml.Header), []byte(parts.open), inner, []byte(parts.close)} {
		if _, err := w.Write(part); err != nil {
			return // the client has gone
		}
	}
}

// jsonProtocol is AWS JSON 1.0 and 1.1: the operation in X-Amz-Target.
// https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
type jsonProtocol struct {
	contentType string
	// queryNames adds the older error names, as SQS does.
	queryNames bool
}

func (p jsonProtocol) answer(w http.ResponseWriter, c *call, result any) {
	writeJSON(w, c, p.contentType, http.StatusOK, result)
}

func (p jsonProtocol) refuse(w http.ResponseWriter, c *call, f *APIError) {
	w.Header().Set("X-Amzn-Errortype", f.Code)
	if p.queryNames {
		w.Header().Set("X-Amzn-Query-Error", queryName(f.Code)+";Sender")
	}
	writeJSON(w, c, p.contentType, f.status(), map[string]string{"__type": f.Code, "message": f.Message})
}

// restProtocol is REST JSON, that of EKS and zonal shift.
type restProtocol struct{}

func (restProtocol) answer(w http.ResponseWriter, c *call, result any) {
	writeJSON(w, c, "application/json", http.StatusOK, result)
}

func (restProtocol) refuse(w http.ResponseWriter, c *call, f *APIError) {
	w.Header().Set("X-Amzn-Errortype", f.Code)
	writeJSON(w, c, "application/json", f.status(), map[string]string{"message": f.Message})
}

func writeJSON(w http.ResponseWriter, c *call, contentType string, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Amzn-Requestid", c.id)
	w.WriteHeader(status)
	if _, err := w.Write(text); err != nil {
		return // the client has gone
	}
}
