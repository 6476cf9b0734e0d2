// Package password checks the password of a server that other machines can reach.
package password

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
)

// Least is the least length of a password, in bytes. With the password one runs programs in the cluster.
const Least = 16

// Password is what clients have to know; where it is empty, nothing is asked for.
type Password string

// Check refuses a password that is too short; without one it has nothing to say.
func (p Password) Check() error {
	if p != "" && len(p) < Least {
		return fmt.Errorf("the password in ARGOSY_PASSWORD has %d bytes; a caller who guesses it can run programs in the cluster: use %d or more, for example what `openssl rand -hex 16` prints", len(p), Least)
	}
	return nil
}

// Admits looks at the header Authorization of a request (RFC 7235): Basic with any name, as browsers send it, or Bearer, as
// KFP's clients do.
func (p Password) Admits(authorization string) bool {
	if p == "" {
		return true
	}
	scheme, given, _ := strings.Cut(authorization, " ")
	switch strings.ToLower(scheme) {
	case "basic":
		plain, err := base64.StdEncoding.DecodeString(given)
		if err != nil {
			return false
		}
		_, given, _ = strings.Cut(string(plain), ":")
	case "bearer":
	default:
		return false
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(p)) // of one length, so that the time tells nothing of it
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
