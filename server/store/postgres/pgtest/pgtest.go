// Package pgtest gives tests a PostgreSQL server of their own, made with the initdb and postgres of the machine.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// shared is the server of this test process; it starts when the first test asks for a database.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

type main struct{ m interface{ Run() int } }

// Main gives what runs the tests of a package and then stops the server that they shared. TestMain passes it on to goleak.
func Main(m *testing.M) interface{ Run() int } { return main{m} }

func (m main) Run() int {
	code := m.m.Run()
	if shared.server == nil {
		return code
	}
	if err := shared.server.remove(); err != nil {
		fmt.Println("PostgreSQL:", err)
		return max(code, 1)
	}
	return code
}

// Database makes an empty database on the server that the tests of this process share, for as long as the test lives, and
// gives its address. The package's TestMain has to use Main.
func Database(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = start() })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server.Database(t)
}

// Own starts a server for one test, which may stop it.
func Own(t testing.TB) *Server {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.remove(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Start starts a server outside a test. The caller calls Remove.
func Start() (*Server, error) { return start() }

// Remove ends the server and removes all that it has.
func (s *Server) Remove() error { return s.remove() }

// Create makes an empty database and gives its address.
func (s *Server) Create(name string) (string, error) {
	return s.address(name), s.do("CREATE DATABASE " + name)
}

var databases atomic.Int64

// Database makes an empty database on the server and gives its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	address, err := s.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !s.running() { // its folder goes away as a whole
			return
		}
		if err := s.do("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return address
}

func (s *Server) address(database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode()}).String()
}

// do runs one statement outside of any test's database. PostgreSQL itself waits five seconds for those whose connections it ended; a busy
// machine may need longer.
func (s *Server) do(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startup)
	defer cancel()
	for {
		err := s.try(ctx, statement)
		var inUse *pgconn.PgError
		if ctx.Err() != nil || !errors.As(err, &inUse) || inUse.Code != "55006" { // the database is being accessed by other users
			return err
		}
	}
}

func (s *Server) try(ctx context.Context, statement string) error {
	c, err := pgx.Connect(ctx, s.address("postgres"))
	if err != nil {
		return err
	}
	defer c.Close(ctx) //nolint:errcheck // nothing is lost with it
	_, err = c.Exec(ctx, statement)
	return err
}
