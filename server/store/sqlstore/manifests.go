package sqlstore

// pile holds the manifests of a page's rows, each once: most rows of a page share theirs.
type pile struct {
	manifests [][]byte
	of        map[string]int // their places in manifests, by the ids of the rows
	places    map[int64]int  // by the manifests' numbers
}

// add puts the manifest of a row on the pile, unless it is there already.
func (p *pile) add(id string, seq int64, data []byte) error {
	if p.of == nil {
		p.of, p.places = map[string]int{}, map[int64]int{}
	}
	place, known := p.places[seq]
	if !known {
		text, err := unpack(data)
		if err != nil {
			return err
		}
		place = len(p.manifests)
		p.manifests, p.places[seq] = append(p.manifests, text), place
	}
	p.of[id] = place
	return nil
}
