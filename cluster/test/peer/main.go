// Command peer is what pods of the network's tests run: one that serves, or one
// that asks and prints the answer.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
)

const limit = time.Minute

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch args[0] {
	case "serve":
		return serve(args[1], args[2])
	case "ask":
		for _, addr := range args[2:] {
			answer, err := ask(args[1], addr)
			var none *net.DNSError
			switch {
			case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
				answer = "refused"
			case errors.As(err, &none) && none.IsNotFound:
				answer = "unknown"
			case err != nil:
				return fmt.Errorf("%s: %w", addr, err)
			}
			fmt.Println(addr, "says", answer)
		}
		return nil
	case "lookup":
		return lookup(args[1], args[2])
	case "hold":
		return hold(args[1])
	case "sniff":
		return sniff(args[1:])
	case "claim":
		return claim(args[1:])
	case "listen":
		return listen(args[1])
	case "spoof":
		return spoof(args[1], args[2], args[3])
	case "reach":
		return reach()
	case "others":
		return others()
	case "repeat":
		return repeat(args[1], args[2], args[3])
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// serve answers with its name and what it was asked, on TCP and UDP.
func serve(name, port string) error {
	packets, err := net.ListenPacket("udp", ":"+port)
	if err != nil {
		return err
	}
	go func() {
		buf := make([]byte, 65535)
		for {
			n, from, err := packets.ReadFrom(buf)
			if err == nil {
				_, _ = packets.WriteTo(append([]byte(name+" "), buf[:n]...), from)
			}
		}
	}()
	l, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	fmt.Println("serving")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			_, _ = io.WriteString(c, name+" ")
			_, _ = io.Copy(c, c)
		}()
	}
}

func ask(network, addr string) (string, error) {
	c, err := net.DialTimeout(network, addr, limit)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(limit))
	if _, err := io.WriteString(c, "hello\n"); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line), err
}

func lookup(kind, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var found []string
	var err error
	r := net.DefaultResolver
	switch kind {
	case "host":
		found, err = r.LookupHost(ctx, name)
	case "cname":
		var target string
		target, err = r.LookupCNAME(ctx, name)
		found = []string{target}
	case "ptr":
		found, err = r.LookupAddr(ctx, name)
	case "srv":
		var all []*net.SRV
		_, all, err = r.LookupSRV(ctx, "", "", name)
		for _, s := range all {
			found = append(found, fmt.Sprintf("%s:%d", s.Target, s.Port))
		}
	}
	var none *net.DNSError
	if errors.As(err, &none) && none.IsNotFound {
		found, err = []string{"unknown"}, nil
	}
	slices.Sort(found)
	fmt.Println(name, "is", strings.Join(found, " "))
	return err
}

// hold keeps one connection in use, and says so, until it breaks.
func hold(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	lines := bufio.NewReader(c)
	for i := 0; ; i++ {
		if _, err := fmt.Fprintln(c, i); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(limit))
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		fmt.Print("still there ", line)
		time.Sleep(100 * time.Millisecond) // often enough to be in use whenever something is killed
	}
}
