package podnet

import (
	"errors"
	"net"

	"golang.org/x/net/dns/dnsmessage"
)

// ServeNoNames answers every question to conn, a name server's socket, with "no
// such name", until conn is closed. All names that pods can reach stand in their
// hosts files; without an answer, a question for any other (or for the IPv6
// address of one of these) would cost its asker many seconds of waiting.
func ServeNoNames(conn net.PacketConn) error {
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := noSuchName(buf[:n])
		if err != nil {
			continue // not a question
		}
		if _, err := conn.WriteTo(answer, from); errors.Is(err, net.ErrClosed) {
			return nil
		} // a pod that is gone by now needs no answer
	}
}

// noSuchName makes the answer to a question.
func noSuchName(question []byte) ([]byte, error) {
	var p dnsmessage.Parser
	h, err := p.Start(question)
	if err != nil {
		return nil, err
	}
	if h.Response {
		return nil, errors.New("not a question")
	}
	questions, err := p.AllQuestions()
	if err != nil {
		return nil, err
	}
	m := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: h.ID, Response: true, OpCode: h.OpCode, Authoritative: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true,
			RCode: dnsmessage.RCodeNameError,
		},
		Questions: questions,
	}
	return m.Pack()
}
