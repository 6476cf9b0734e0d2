package draw

import (
	"cmp"
	"slices"
)

// Sizes in pixels.
const (
	boxHeight  = 44
	charWidth  = 7.5
	widePad    = 28
	minWidth   = 110
	gapX       = 28
	gapY       = 36
	groupPad   = 16
	groupTitle = 26
	// maxBends bounds what long edges are given: beyond it they go straight, through boxes if need be.
	maxBends = 20000
)

// box is a node with its place, relative to the group that holds it. A bend is a box without a node, where a long edge
// passes a layer.
type box struct {
	node       *Node
	x, y, w, h float64
	bottom     float64 // of its layer
	inner      *plane
	up, down   []*box // neighbours in the layers above and below
}

func (b *box) middle() float64 { return b.x + b.w/2 }

// plane is the layout of nodes beside each other.
type plane struct {
	w, h   float64
	layers [][]*box
	edges  [][]*box // each from its first box, through bends, to its last
}

// arrange lays nodes out in layers, each below what it waits for (after Sugiyama, Tagawa and Toda, 1981): layers by the
// longest path, orders that cross few edges by barycentres, places near the neighbours.
func arrange(nodes []Node) *plane {
	p := &plane{}
	boxes := map[string]*box{}
	for i := range nodes {
		boxes[nodes[i].ID] = measure(&nodes[i])
	}
	ranks := rank(nodes)
	for i := range nodes {
		b := boxes[nodes[i].ID]
		for len(p.layers) <= ranks[nodes[i].ID] {
			p.layers = append(p.layers, nil)
		}
		p.layers[ranks[nodes[i].ID]] = append(p.layers[ranks[nodes[i].ID]], b)
	}
	bends := 0
	for i := range nodes {
		for _, before := range nodes[i].After {
			from, to := boxes[before], boxes[nodes[i].ID]
			if from == nil || ranks[before] >= ranks[nodes[i].ID] {
				continue
			}
			edge := []*box{from}
			for r := ranks[before] + 1; r < ranks[nodes[i].ID] && bends < maxBends; r++ {
				b := &box{w: 2} // of no height: it hangs from the top of its layer
				p.layers[r] = append(p.layers[r], b)
				edge = append(edge, b)
				bends++
			}
			edge = append(edge, to)
			for j := 1; j < len(edge); j++ {
				edge[j-1].down = append(edge[j-1].down, edge[j])
				edge[j].up = append(edge[j].up, edge[j-1])
			}
			p.edges = append(p.edges, edge)
		}
	}
	p.place()
	return p
}

func measure(n *Node) *box {
	b := &box{node: n, w: max(minWidth, textWidth(n.Label)+widePad), h: boxHeight}
	if n.Group {
		b.inner = arrange(n.Nodes)
		b.w = max(b.w, b.inner.w+2*groupPad)
		b.h = b.inner.h + groupTitle + groupPad
	}
	return b
}

// textWidth is about what a text takes; characters of East Asian scripts take two.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		w += charWidth
		if r >= 0x1100 {
			w += charWidth
		}
	}
	return w
}

// rank gives each node the length of the longest path to it. Those in a circle get what was known when it closed.
func rank(nodes []Node) map[string]int {
	byID := map[string]*Node{}
	for i := range nodes {
		byID[nodes[i].ID] = &nodes[i]
	}
	ranks := map[string]int{}
	var visit func(*Node) int
	visit = func(n *Node) int {
		if r, ok := ranks[n.ID]; ok {
			return r
		}
		ranks[n.ID] = 0
		r := 0
		for _, before := range n.After {
			if b := byID[before]; b != nil && b != n {
				r = max(r, visit(b)+1)
			}
		}
		ranks[n.ID] = r
		return r
	}
	for i := range nodes {
		visit(&nodes[i])
	}
	return ranks
}

// place orders the boxes within their layers and gives all of them coordinates.
func (p *plane) place() {
	for _, layer := range p.layers {
		spread(layer)
	}
	const sweeps = 6
	for sweep := range sweeps {
		for i := range p.layers {
			layer, upwards := p.layers[i], sweep%2 == 1
			if upwards {
				layer = p.layers[len(p.layers)-1-i]
			}
			want := wishes(layer, upwards)
			if sweep < sweeps-2 { // the last two only move boxes, in the order they have
				slices.SortStableFunc(layer, func(a, b *box) int { return cmp.Compare(want[a], want[b]) })
			}
			settle(layer, want)
		}
	}
	p.finish()
}

// wishes says where the middle of each box would best be: at the mean of its neighbours' in one direction.
func wishes(layer []*box, below bool) map[*box]float64 {
	want := make(map[*box]float64, len(layer))
	for _, b := range layer {
		near := b.up
		if below {
			near = b.down
		}
		want[b] = b.middle()
		if len(near) > 0 {
			sum := 0.0
			for _, n := range near {
				sum += n.middle()
			}
			want[b] = sum / float64(len(near))
		}
	}
	return want
}

// spread puts boxes side by side around zero.
func spread(layer []*box) {
	total := -float64(gapX)
	for _, b := range layer {
		total += b.w + gapX
	}
	x := -total / 2
	for _, b := range layer {
		b.x = x
		x += b.w + gapX
	}
}

// settle puts boxes as near to their wishes as their order and the gaps allow: the mean of pushing all to the right and
// all to the left.
func settle(layer []*box, want map[*box]float64) {
	right, left := make([]float64, len(layer)), make([]float64, len(layer))
	for i, b := range layer {
		right[i] = want[b] - b.w/2
		if i > 0 {
			right[i] = max(right[i], right[i-1]+layer[i-1].w+gapX)
		}
	}
	for i := len(layer) - 1; i >= 0; i-- {
		left[i] = want[layer[i]] - layer[i].w/2
		if i < len(layer)-1 {
			left[i] = min(left[i], left[i+1]-gapX-layer[i].w)
		}
	}
	for i, b := range layer {
		b.x = (right[i] + left[i]) / 2
	}
}

// finish gives the layers their heights and moves all to begin at zero.
func (p *plane) finish() {
	y, least, most := 0.0, 0.0, 0.0
	for i, layer := range p.layers {
		tallest := 0.0
		for j, b := range layer {
			tallest = max(tallest, b.h)
			if i == 0 && j == 0 || b.x < least {
				least = b.x
			}
			if i == 0 && j == 0 || b.x+b.w > most {
				most = b.x + b.w
			}
		}
		for _, b := range layer {
			b.y, b.bottom = y, y+tallest
		}
		y += tallest + gapY
	}
	for _, layer := range p.layers {
		for _, b := range layer {
			b.x -= least
		}
	}
	p.w, p.h = most-least, max(0, y-gapY)
}
