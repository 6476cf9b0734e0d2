// Package runview is what a person in a terminal sees of a run: its steps as they go, their logs, tables, and why it failed.
package runview

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/sdk/client"
)

// logPatience is how long logs are read after their run has ended, unless the follower has a patience of its own.
const logPatience = 10 * time.Second

// Follower tells of a run as it goes. Its functions are never called at the same time.
type Follower struct {
	Client *client.Client
	Step   func(client.Node)         // the phase of a step changed, or what it waits for; may be nil
	Line   func(client.Node, string) // a step printed a line; nil: logs are not read
	Lost   func(client.Node, error)  // a step's log could not be read to its end; may be nil

	patience time.Duration // with logs after the end; 0: logPatience

	mu     sync.Mutex
	phases map[string]string
	waits  map[[2]string]bool // by step and sentence: told
	logs   sync.WaitGroup
	opened map[string]bool
}

// Run follows the run to its end and gives it as it ended.
func (f *Follower) Run(ctx context.Context, id string) (*client.Run, error) {
	f.phases, f.waits, f.opened = map[string]string{}, map[[2]string]bool{}, map[string]bool{}
	logs, cancel := context.WithCancel(ctx)
	defer f.logs.Wait()
	defer cancel()
	run, err := f.Client.Runs.Wait(ctx, id, func(r *client.Run) { f.changed(logs, r) })
	if err != nil {
		return run, err
	}
	late := time.AfterFunc(cmp.Or(f.patience, logPatience), cancel)
	f.logs.Wait()
	late.Stop()
	return run, nil
}

func (f *Follower) changed(ctx context.Context, r *client.Run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range Steps(r) {
		wait := [2]string{n.ID, n.Waiting}
		if f.Step != nil && (f.phases[n.ID] != n.Phase || n.Waiting != "" && !f.waits[wait]) {
			f.Step(n)
		}
		f.phases[n.ID], f.waits[wait] = n.Phase, true
		if f.Line != nil && n.HasLog && !f.opened[n.ID] {
			f.opened[n.ID] = true
			f.logs.Go(func() { f.read(ctx, r.ID, n) })
		}
	}
}

func (f *Follower) read(ctx context.Context, run string, n client.Node) {
	err := f.lines(ctx, run, n)
	if err != nil && ctx.Err() == nil && f.Lost != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.Lost(n, err)
	}
}

func (f *Follower) lines(ctx context.Context, run string, n client.Node) error {
	log, err := f.Client.Logs.Open(ctx, run, n.ID, client.LogOptions{Follow: true})
	if err != nil {
		return err
	}
	defer log.Close()
	r := bufio.NewReaderSize(log, 64<<10)
	for {
		// A line that does not end is handed on in pieces.
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			f.mu.Lock()
			f.Line(n, strings.TrimRight(string(line), "\r\n"))
			f.mu.Unlock()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("log of %s: %w", n.Label(), err)
		}
	}
}

// Steps gives the nodes that ran, or were to run, something, in the order in which they began. Of those that began in the same
// second, as precisely as is known, a step comes before those that waited for it.
func Steps(r *client.Run) []client.Node {
	var steps []client.Node
	for _, n := range r.Nodes {
		if n.Type == "Pod" || n.Type == "Skipped" || n.Type == "Suspend" {
			steps = append(steps, n)
		}
	}
	follow := followers(r.Nodes)
	slices.SortStableFunc(steps, func(a, b client.Node) int {
		switch {
		case a.StartedAt.IsZero() == b.StartedAt.IsZero():
			return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(follow[b.ID], follow[a.ID]))
		case a.StartedAt.IsZero():
			return 1
		}
		return -1
	})
	return steps
}

// followers says of each node how many follow it, one upon the other, at most.
func followers(nodes []client.Node) map[string]int {
	children := map[string][]string{}
	for _, n := range nodes {
		children[n.ID] = n.Children
	}
	longest := map[string]int{}
	var count func(id string) int
	count = func(id string) int {
		if n, ok := longest[id]; ok {
			return n
		}
		longest[id] = 0 // where nodes went round in a circle, this would end it
		n := 0
		for _, child := range children[id] {
			n = max(n, 1+count(child))
		}
		longest[id] = n
		return n
	}
	for id := range children {
		count(id)
	}
	return longest
}

// FindStep gives the node that the user calls name: by its id, its label, its display name or its template. Of a step that
// was tried several times it is the last try; of one that a loop repeats, the user has to say which.
func FindStep(r *client.Run, name string) (client.Node, error) {
	steps := Steps(r)
	for _, same := range []func(client.Node) bool{
		func(n client.Node) bool { return n.ID == name },
		func(n client.Node) bool { return n.Label() == name },
		func(n client.Node) bool { return n.DisplayName == name },
		func(n client.Node) bool { return n.Template == name },
	} {
		found := slices.DeleteFunc(slices.Clone(steps), func(n client.Node) bool { return !same(n) })
		if len(found) == 0 {
			continue
		}
		last := found[len(found)-1]
		if i := slices.IndexFunc(found, func(n client.Node) bool { return passes(n) != passes(last) }); i >= 0 {
			return client.Node{}, exit.Usagef("a loop ran %s several times; name one of %s", name, quoted(found))
		}
		return last, nil
	}
	return client.Node{}, &client.Error{
		Status: 404, Code: client.CodeNotFound, Message: fmt.Sprintf("run %s has no step %q; it has: %s", r.Name, name, quoted(steps)),
	}
}

// passes are those of the loops that the node is in.
func passes(n client.Node) string { return strings.TrimPrefix(n.Label(), n.DisplayName) }

// quoted lists labels as they can be typed in a shell.
func quoted(steps []client.Node) string {
	var names []string
	for _, n := range steps {
		label := n.Label()
		if strings.Contains(label, "(") {
			label = "'" + label + "'"
		}
		if !slices.Contains(names, label) {
			names = append(names, label)
		}
	}
	return strings.Join(names, ", ")
}
