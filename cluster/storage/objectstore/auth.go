package objectstore

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

// maxSkew is how old or how far ahead a signature may be.
const maxSkew = 15 * time.Minute

const algorithm = "AWS4-HMAC-SHA256"

// authenticated lets only requests through that are signed with the store's
// keys (AWS Signature Version 4 in the Authorization header).
func authenticated(next http.Handler, keys home.S3) http.Handler {
	v := newVerifier(keys)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code, err := v.verify(r, time.Now()); err != nil {
			refuse(w, http.StatusForbidden, code, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type verifier struct {
	signer *v4.Signer
	keys   aws.Credentials
}

func newVerifier(keys home.S3) verifier {
	return verifier{
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // S3's rule for paths
		keys:   aws.Credentials{AccessKeyID: keys.AccessKey, SecretAccessKey: keys.SecretKey},
	}
}

// verify signs what the request says it signed and compares. It returns S3's code of the error.
func (v verifier) verify(r *http.Request, now time.Time) (code string, err error) {
	auth, err := parseAuthorization(r.Header.Get("Authorization"))
	if err != nil {
		return "AccessDenied", err
	}
	if subtle.ConstantTimeCompare([]byte(auth.accessKey), []byte(v.keys.AccessKeyID)) != 1 {
		return "InvalidAccessKeyId", errors.New("the access key is not known")
	}
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || signed.Format("20060102") != auth.date {
		return "AccessDenied", errors.New("the header X-Amz-Date is missing or does not match the credential")
	}
	if skew := now.Sub(signed); skew > maxSkew || skew < -maxSkew {
		return "RequestTimeTooSkewed", errors.New("the request was signed too long ago or in the future")
	}
	again, err := auth.unsigned(r)
	if err != nil {
		return "AccessDenied", err
	}
	payload := r.Header.Get(payloadHash)
	if payload == "" {
		empty := sha256.Sum256(nil)
		payload = hex.EncodeToString(empty[:])
	}
	if err := v.signer.SignHTTP(r.Context(), v.keys, again, payload, auth.service, auth.region, signed); err != nil {
		return "AccessDenied", errors.New("the signature cannot be checked")
	}
	want, err := parseAuthorization(again.Header.Get("Authorization"))
	if err != nil || want.signedHeaders != auth.signedHeaders ||
		subtle.ConstantTimeCompare([]byte(want.signature), []byte(auth.signature)) != 1 {
		return "SignatureDoesNotMatch", errors.New("the signature does not match; check the secret key")
	}
	return "", nil
}

// authorization is the content of an Authorization header.
type authorization struct {
	accessKey, date, region, service string
	signedHeaders                    string // lower case, sorted, joined by semicolons
	signature                        string
}

func parseAuthorization(header string) (a authorization, err error) {
	fields, ok := strings.CutPrefix(header, algorithm+" ")
	if !ok {
		return a, errors.New("the request is not signed with " + algorithm)
	}
	var credential string
	for field := range strings.SplitSeq(fields, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch key {
		case "Credential":
			credential = value
		case "SignedHeaders":
			a.signedHeaders = value
		case "Signature":
			a.signature = value
		}
	}
	scope := strings.Split(credential, "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || a.signature == "" {
		return a, errors.New("the Authorization header is malformed")
	}
	a.accessKey, a.date, a.region, a.service = scope[0], scope[1], scope[2], scope[3]
	return a, nil
}

// unsigned is the request as its sender signed it: only the signed headers, no body.
func (a authorization) unsigned(r *http.Request) (*http.Request, error) {
	again := (&http.Request{Method: r.Method, Host: r.Host, Header: http.Header{}}).WithContext(r.Context())
	u := *r.URL
	again.URL = &u
	host := false
	for name := range strings.SplitSeq(a.signedHeaders, ";") {
		switch name {
		case "host":
			host = true
		case "content-length":
			again.ContentLength = r.ContentLength
		default:
			again.Header[http.CanonicalHeaderKey(name)] = append([]string(nil), r.Header.Values(name)...)
		}
	}
	if !host {
		return nil, errors.New("the header Host is not signed")
	}
	return again, nil
}
