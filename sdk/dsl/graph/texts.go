package graph

import "slices"

// Texts returns all texts of the node itself, in the order in which they are written; not those of the nodes in it.
func (n Node) Texts() []Text {
	var t []Text
	if n.Container != nil {
		t = n.Container.texts(t)
	}
	if n.Pod != nil {
		t = n.Pod.texts(t)
	}
	if n.If != nil {
		t = append(t, n.If.Cond.Left)
		for _, o := range n.If.Outputs {
			t = append(t, o.Otherwise)
		}
	}
	if n.Each != nil {
		t = append(t, n.Each.Items)
	}
	if n.Call != nil {
		for _, a := range n.Call.Args {
			t = a.Import.texts(append(t, a.Value))
		}
	}
	return t
}

func (c *Container) texts(t []Text) []Text {
	t = slices.Grow(t, 3+len(c.Command)+len(c.Args)+len(c.Files)+len(c.Env)+len(c.Requests)+len(c.Limits))
	t = append(t, c.Image)
	t = append(t, c.Command...)
	t = append(t, c.Args...)
	t = append(t, c.WorkingDir, c.Source)
	for _, f := range c.Files {
		t = f.Import.texts(append(t, f.From))
	}
	for _, e := range c.Env {
		t = append(t, e.Value)
	}
	for _, m := range c.Mounts {
		t = append(t, m.SubPath, m.Volume.Claim, m.Volume.Secret, m.Volume.ConfigMap, m.Volume.HostPath)
	}
	if r := c.Resource; r != nil {
		t = append(append(t, r.Manifest, r.SuccessCondition, r.FailureCondition), r.Flags...)
	}
	return pairs(pairs(t, c.Requests), c.Limits)
}

func (p *Pod) texts(t []Text) []Text {
	t = pairs(pairs(pairs(t, p.Labels), p.Annotations), p.NodeSelector)
	for _, tol := range p.Tolerations {
		t = append(t, tol.Value)
	}
	if a := p.Affinity; a != nil {
		for _, terms := range [][]NodeTerm{a.Nodes, a.PreferNodes} {
			for _, term := range terms {
				t = requirements(t, term.Labels)
			}
		}
		for _, terms := range [][]PodTerm{a.Pods, a.PreferPods, a.AvoidPods, a.ShunPods} {
			for _, term := range terms {
				t = requirements(t, term.Labels)
			}
		}
	}
	t = append(t, p.ServiceAccount, p.PriorityClass, p.Scheduler)
	if r := p.Retry; r != nil {
		t = append(t, r.Limit, r.Wait, r.MaxWait, r.MaxTime)
	}
	t = append(t, p.Timeout)
	if p.Cache != nil {
		t = append(t, p.Cache.Key)
	}
	for _, s := range p.Sidecars {
		t = s.Container.texts(t)
	}
	for _, s := range p.InitContainers {
		t = s.Container.texts(t)
	}
	return append(t, p.Patch)
}

func pairs(t []Text, ps []Pair) []Text {
	for _, p := range ps {
		t = append(t, p.Value)
	}
	return t
}

func requirements(t []Text, rs []Requirement) []Text {
	for _, r := range rs {
		t = append(t, r.Values...)
	}
	return t
}

func (i *Import) texts(t []Text) []Text {
	if i == nil {
		return t
	}
	return append(t, i.Key, i.HTTP, i.Git, i.Revision, i.Raw)
}
