// Command box is the only program of the images that tests build: a static one
// that says what it sees. Several commands are separated by `,`.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// told gets the signals that `wait` waits for; it is there before anything is printed.
var told = make(chan os.Signal, 1)

func main() {
	if slices.Contains(os.Args, "wait") {
		signal.Notify(told, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGINT)
	}
	for args := os.Args[1:]; len(args) > 0; {
		command := args
		if i := slices.Index(args, ","); i >= 0 {
			command, args = args[:i], args[i+1:]
		} else {
			args = nil
		}
		if err := run(command[0], command[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
}

func run(command string, args []string) error {
	switch command {
	case "echo":
		fmt.Println(strings.Join(args, " "))
	case "args":
		fmt.Printf("%q\n", args)
	case "env":
		fmt.Println(args[0] + "=" + os.Getenv(args[0]))
	case "id":
		fmt.Println(os.Getuid(), os.Getgid())
	case "pwd":
		dir, err := os.Getwd()
		fmt.Println(dir)
		return err
	case "cat":
		b, err := os.ReadFile(args[0])
		fmt.Println(strings.TrimSuffix(string(b), "\n"))
		return err
	case "write":
		if err := os.MkdirAll(filepath.Dir(args[0]), 0o755); err != nil {
			return err
		}
		return os.WriteFile(args[0], []byte(args[1]+"\n"), 0o644)
	case "rm":
		return os.RemoveAll(args[0])
	case "ls":
		entries, err := os.ReadDir(args[0])
		for _, e := range entries {
			fmt.Print(e.Name(), " ")
		}
		fmt.Println()
		return err
	case "stat":
		fi, err := os.Lstat(args[0])
		if err != nil {
			return err
		}
		st := fi.Sys().(*syscall.Stat_t)
		fmt.Println(fi.Mode(), st.Uid, st.Gid)
	case "wait": // for a signal
		fmt.Println("got", <-told)
	case "peek":
		return peek()
	case "secret":
		return secret()
	case "catch":
		return catch()
	default:
		return fmt.Errorf("no command %q", command)
	}
	return nil
}
