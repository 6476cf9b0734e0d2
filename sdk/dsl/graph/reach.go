package graph

import "slices"

// ref checks that what a reference means is there when the node at a place runs.
func (c *checker) ref(at *place, r Ref) {
	kinds := 0
	for _, is := range []bool{r.Param != "", r.Step != "", r.Input != "", r.Loop != "", r.Variable != "", r.Env != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1 || r.Call || r.Index || r.Field != "" && r.Loop == "" || r.Collected < 0 || r.Collected > 0 && r.Step == "" || r.File && r.Step+r.Input == "" || (r.Step == "") != (r.Output == ""):
		c.fault(at.node, "a reference must be to one thing: %+v", r)
	case r.Param != "" && !c.params[r.Param]:
		c.fault(at.node, "the pipeline has no parameter %s", r.Param)
	case r.Input != "" && (c.sub == nil || !slices.ContainsFunc(c.sub.Inputs, func(in SubInput) bool { return in.Name == r.Input && in.File == r.File })):
		c.fault(at.node, "there is no input %s here", r.Input)
	case r.Loop != "" && !within(at.list, r.Loop):
		c.fault(at.node, "it uses an item of %s outside of it", r.Loop)
	case r.Step != "":
		c.output(at, r)
	}
}

func within(l *list, loop string) bool {
	for ; l.owner != nil; l = l.owner.list {
		if l.owner.node.Name == loop && l.owner.node.Each != nil {
			return true
		}
	}
	return false
}

// output checks a reference to an output: it is there, its list holds the node's, and the node waits for it.
func (c *checker) output(at *place, r Ref) {
	from := c.places[r.Step]
	if from == nil || !c.puts(from.node, r) {
		c.fault(at.node, "there is no output %s of %s", r.Output, r.Step)
		return
	}
	if r.File && r.Collected > 0 && !c.collectable(from.node, r.Output) {
		c.fault(at.node, "files of %s cannot be collected: only what a step leaves in each pass can", r.Step)
		return
	}
	for range r.Collected {
		owner := from.list.owner
		if owner == nil || owner.node.Each == nil {
			c.fault(at.node, "output %s of %s is collected where there is no loop", r.Output, r.Step)
			return
		}
		from = owner
	}
	here := at
	for !same(here.list, from.list) {
		if here.list.owner == nil {
			c.fault(at.node, "it uses output %s of %s, which it cannot see", r.Output, r.Step)
			return
		}
		here = here.list.owner
	}
	if here.index < len(here.list.nodes) && !waits(here.list, here.node, from.node.Name, map[string]bool{}) {
		c.fault(at.node, "it uses output %s of %s, and does not wait for it", r.Output, r.Step)
	}
}

func same(a, b *list) bool {
	return len(a.nodes) == len(b.nodes) && (len(a.nodes) == 0 || &a.nodes[0] == &b.nodes[0])
}

// waits says whether a node waits for another, directly or not.
func waits(l *list, n Node, name string, seen map[string]bool) bool {
	if slices.Contains(n.After, name) {
		return true
	}
	for _, other := range l.nodes {
		if slices.Contains(n.After, other.Name) && !seen[other.Name] {
			seen[other.Name] = true
			if waits(l, other, name, seen) {
				return true
			}
		}
	}
	return false
}

// puts says whether a node has an output.
func (c *checker) puts(n Node, r Ref) bool {
	switch {
	case n.Container != nil && r.File:
		return slices.ContainsFunc(n.Container.Artifacts, func(a Artifact) bool { return a.Name == r.Output })
	case n.Container != nil:
		return slices.ContainsFunc(n.Container.Outputs, func(o Output) bool { return o.Name == r.Output })
	case n.If != nil:
		return slices.ContainsFunc(n.If.Outputs, func(m Merge) bool { return m.Name == r.Output && m.File == r.File })
	case n.Call != nil && c.subs[n.Call.Sub] != nil:
		return slices.ContainsFunc(c.subs[n.Call.Sub].Outputs, func(o SubOutput) bool { return o.Name == r.Output && o.File == r.File })
	}
	return false
}

// collectable says whether an artifact is left by a step each time, whichever branch is taken.
func (c *checker) collectable(n Node, output string) bool {
	if n.If == nil {
		return n.Container != nil
	}
	i := slices.IndexFunc(n.If.Outputs, func(m Merge) bool { return m.Name == output })
	if len(n.If.Outputs[i].Otherwise) > 0 {
		return false
	}
	for _, from := range n.If.Outputs[i].From {
		if from == nil || c.places[from.Step] == nil || !c.puts(c.places[from.Step].node, *from) || !c.collectable(c.places[from.Step].node, from.Output) {
			return false
		}
	}
	return true
}

// endless refuses sub-pipelines that call themselves, directly or not, without a condition.
func (c *checker) endless() {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(*Sub)
	var calls func([]Node)
	calls = func(nodes []Node) {
		for _, n := range nodes {
			if n.Each != nil {
				calls(n.Each.Nodes)
			}
			if n.Call == nil || c.subs[n.Call.Sub] == nil {
				continue
			}
			switch sub := c.subs[n.Call.Sub]; state[sub.Name] {
			case open:
				c.fault(n, "sub-pipeline %s calls itself always, and would never end", sub.Name)
			case 0:
				visit(sub)
			}
		}
	}
	visit = func(sub *Sub) {
		state[sub.Name] = open
		calls(sub.Nodes)
		state[sub.Name] = done
	}
	for i := range c.pipeline.Subs {
		if state[c.pipeline.Subs[i].Name] == 0 {
			visit(&c.pipeline.Subs[i])
		}
	}
}
