// Package access decides who may use the server: clients with its password, or without a password the account that started it, and root.
package access

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/argosy-ml/argosy/server/password"
)

// Gate admits callers. It serves REST and gRPC alike, so that a guess over one counts for the other.
type Gate struct {
	password password.Password
	owners   []int // accounts that need no password where none is set
	guesses  *guesses
	log      *slog.Logger
}

// New makes a gate that asks for the password. Without one it admits the account of this process, and root.
func New(p password.Password, log *slog.Logger) *Gate {
	return &Gate{password: p, owners: owners(), guesses: newGuesses(), log: log}
}

// Reason says why a caller is refused.
type Reason int

// The reasons, each with an HTTP status and a gRPC code of its own.
const (
	Stranger   Reason = iota // another account of this machine: 403, PERMISSION_DENIED
	NoPassword               // the password is missing or wrong: 401, UNAUTHENTICATED
	Guessing                 // too many wrong passwords: 429, RESOURCE_EXHAUSTED
)

// Refusal is worded for the caller.
type Refusal struct {
	Reason  Reason
	Message string
	After   time.Duration // when it is worth to ask again; 0 unless the reason is Guessing
}

func (r *Refusal) Error() string { return r.Message }

// Admit returns nil for those who may use the server. The authorization is the header of that name.
func (g *Gate) Admit(ctx context.Context, c *Caller, authorization string) *Refusal {
	if g.password == "" {
		return g.known(c)
	}
	if authorization == "" {
		return noPassword("this server asks for a password: set ARGOSY_PASSWORD, or send Authorization: Bearer PASSWORD")
	}
	from := c.source()
	if wait := g.guesses.wait(from); wait > 0 {
		wait = wait.Truncate(time.Second) + time.Second
		return &Refusal{Guessing, fmt.Sprintf("too many wrong passwords came from %s: try again in %s", from, wait), wait}
	}
	if g.password.Admits(authorization) {
		return nil
	}
	if g.guesses.failed(from, authorization) {
		g.log.WarnContext(ctx, "wrong password", "from", from)
	}
	return noPassword("the password is wrong: set ARGOSY_PASSWORD to that of the server, or send Authorization: Bearer PASSWORD")
}

func noPassword(message string) *Refusal { return &Refusal{Reason: NoPassword, Message: message} }

// known admits the owners' accounts. Without a password the server listens on loopback alone, so callers have an account here. Where
// the operating system does not tell which, all of them are admitted.
func (g *Gate) known(c *Caller) *Refusal {
	if Unsupported {
		return nil
	}
	account, err := c.account()
	if err != nil {
		return &Refusal{Reason: Stranger, Message: fmt.Sprintf("this server serves the account that started it (%s), and cannot tell which account this connection comes from (%v): "+
			"start the server with a password (ARGOSY_PASSWORD), and send it", named(g.owners[0]), err)}
	}
	if account == 0 || slices.Contains(g.owners, account) {
		return nil
	}
	return &Refusal{Reason: Stranger, Message: fmt.Sprintf("this server serves the account that started it (%s) and root, not %s: "+
		"use the server from that account, start one of your own, or have this one started with a password (ARGOSY_PASSWORD), and send it", named(g.owners[0]), named(account))}
}
