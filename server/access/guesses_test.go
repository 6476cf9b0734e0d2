package access

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/password"
)

const right = "Bearer correct horse battery"

// from is a caller at an address.
func from(address string) *Caller { return CallerOf(elsewhere{address: address}) }

type elsewhere struct {
	net.Conn
	address string
}

func (e elsewhere) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(e.address), 1234))
}

func TestGuesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(password.Password("correct horse battery"), slog.New(slog.DiscardHandler))
		reason := func(address, header string) Reason {
			r := g.Admit(t.Context(), from(address), header)
			require.NotNil(t, r)
			return r.Reason
		}
		for i := range guessesAtOnce {
			require.Equal(t, NoPassword, reason("10.0.0.1", fmt.Sprint("Bearer guess ", i)))
		}
		refusal := g.Admit(t.Context(), from("10.0.0.1"), right)
		require.NotNil(t, refusal, "who guesses has to wait, even for the right password")
		require.Equal(t, Guessing, refusal.Reason)
		require.InDelta(t, guessAgain.Seconds(), refusal.After.Seconds(), 1)
		require.Contains(t, refusal.Message, "10.0.0.1")
		require.Nil(t, g.Admit(t.Context(), from("10.0.0.2"), right), "others are not locked out")
		require.Equal(t, NoPassword, reason("10.0.0.1", ""), "to bring none is no guess")

		time.Sleep(refusal.After)
		require.Equal(t, NoPassword, reason("10.0.0.1", "Bearer another"))
		require.Equal(t, Guessing, reason("10.0.0.1", "Bearer yet another"))
		time.Sleep(guessAgain)
		require.Nil(t, g.Admit(t.Context(), from("10.0.0.1"), right))
	})
}

// TestSameGuess: a program with an old password does not lock out others of its machine.
func TestSameGuess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(password.Password("correct horse battery"), slog.New(slog.DiscardHandler))
		for range 1000 {
			require.Equal(t, NoPassword, g.Admit(t.Context(), from("10.0.0.1"), "Bearer of last year").Reason)
		}
		require.Nil(t, g.Admit(t.Context(), from("10.0.0.1"), right))
	})
}

// TestManyGuessers: a password that is guessed from many addresses is tried once from each, and then as slowly as from one.
func TestManyGuessers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := New(password.Password("correct horse battery"), slog.New(slog.DiscardHandler))
		tried := 0
		for round := range 10 {
			for i := range 2 * allGuessesAtOnce {
				r := g.Admit(t.Context(), from(fmt.Sprintf("10.0.%d.1", i)), fmt.Sprint("Bearer guess ", round))
				if r.Reason == NoPassword {
					tried++
				}
			}
		}
		require.Equal(t, 2*allGuessesAtOnce, tried)
		require.Nil(t, g.Admit(t.Context(), from("10.1.0.1"), right), "who has not guessed is not locked out")

		for i := range 3 * maxSources {
			_ = g.Admit(t.Context(), from(fmt.Sprintf("10.2.%d.%d", i/256, i%256)), "Bearer guess") // a wrong one
		}
		require.LessOrEqual(t, len(g.guesses.from), maxSources)
	})
}

func TestSource(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "2001:db8::1:2:3:4": "2001:db8::/64", "2001:db8::ffff:2:3:5": "2001:db8::/64",
		"127.0.0.1": "127.0.0.1", // whose account cannot be found
	} {
		require.Equal(t, want, from(address).source())
	}
	require.Equal(t, "an unknown connection", CallerOf(nil).source())
}
