// Package columns is an index of rows: it filters, sorts and counts them by any of their columns, one column at a time, since a column
// holds a million values in few bytes. The index is an unnamed file that ends with the process, so it uses the system's file cache and not
// the server's memory. The rows themselves are stored elsewhere.
//
// Rows are only appended: a changed row is appended again and its old place is dead. Full blocks are in the file, each column of a block in
// one piece; the newest rows are in memory.
package columns

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"
)

// blockRows is how many places a block has.
const blockRows = 1 << 14

// A Schema names the columns that every row has a value of.
type Schema struct {
	Ints  []string
	Words []string // texts that many rows share
	Texts []string // texts that mostly differ; the first of them breaks ties in every sort
}

// A Row is what is put into a table. Ints, Words and Texts are as the schema names them.
type Row struct {
	Key     int64
	Ints    []int64
	Words   []string
	Texts   []string
	Tags    []Tag   // of any name, as often as they come
	Numbers []Named // of any name
}

// A Tag is a text in a column that few rows may have.
type Tag struct{ Column, Text string }

// Named is a number in a column that few rows may have.
type Named struct {
	Column string
	Value  float64
}

// Table is safe for concurrent use.
type Table struct {
	schema Schema
	seed   maphash.Seed
	mu     sync.RWMutex
	file   *os.File
	size   int64
	blocks []*block
	tail   *cells
	words  []dictionary
	at     map[int64]*[atPage]uint32 // where the row of a key is, from 1; by pages of keys
	live   int

	loaders sync.Pool // of *loader
}

const atPage = 1 << 12

// A block is blockRows places.
type block struct {
	alive    bitmap
	sections map[string]section // nil: the cells are in memory
}

// bitmap has a bit for each place of a block.
type bitmap [blockRows / 64]uint64

func (b *bitmap) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b *bitmap) clear(i int)    { b[i/64] &^= 1 << (i % 64) }
func (b *bitmap) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b *bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// A dictionary numbers the words of a column.
type dictionary struct {
	codes map[string]uint32
	words []string
}

func (d *dictionary) code(word string) uint32 {
	code, ok := d.codes[word]
	if !ok {
		code = uint32(len(d.words))
		d.codes[word], d.words = code, append(d.words, word)
	}
	return code
}

// New makes an empty table, whose file lies in a folder.
func New(dir string, schema Schema) (*Table, error) {
	file, err := os.CreateTemp(dir, ".columns-*")
	if err != nil {
		return nil, fmt.Errorf("make room for the columns of lists: %w", err)
	}
	_ = os.Remove(file.Name()) // where the system cannot do that to an open file, Close does
	t := &Table{schema: schema, seed: maphash.MakeSeed(), file: file, at: map[int64]*[atPage]uint32{}}
	for range schema.Words {
		t.words = append(t.words, dictionary{codes: map[string]uint32{}})
	}
	t.begin()
	return t, nil
}

// Close gives the file up.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.file.Close()
	_ = os.Remove(t.file.Name()) // gone already, on most systems
	return err
}

// Size gives the rows, the places that are dead, and the bytes of the file.
func (t *Table) Size() (rows, dead int, bytes int64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.live, (len(t.blocks)-1)*blockRows + t.tail.n - t.live, t.size
}

// Names gives the columns whose names begin with a prefix, without it and sorted. Rows that are gone may have had them.
func (t *Table) Names(prefix string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	known := map[string]bool{}
	add := func(column string) {
		if name, ok := strings.CutPrefix(column, prefix); ok {
			known[name] = true
		}
	}
	for _, b := range t.blocks {
		for column := range b.sections {
			add(column)
		}
	}
	for column := range t.tail.texts {
		add(column)
	}
	for column := range t.tail.nums {
		add(column)
	}
	return slices.Sorted(maps.Keys(known))
}

// Put puts rows, in place of those that have their keys.
func (t *Table) Put(rows ...Row) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range rows {
		digest := t.digest(r)
		if place, ok := t.place(r.Key); ok {
			known, err := t.int(t.blocks[place/blockRows], digestColumn, place%blockRows)
			if err != nil {
				return err
			}
			if known == digest {
				continue
			}
			t.kill(r.Key, place)
		}
		if t.tail.n == blockRows {
			if err := t.flush(); err != nil {
				return err
			}
		}
		t.append(r, digest)
	}
	return nil
}

// Remove removes the rows that have one of these texts in a column of the schema.
func (t *Table) Remove(column string, texts map[string]bool) error {
	if len(texts) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.loader()
	defer l.release()
	for i, b := range t.blocks {
		all, err := l.texts(b, column)
		if err != nil {
			return err
		}
		for j, place := range all.places {
			if !b.alive.has(int(place)) || !texts[string(all.at(j))] {
				continue
			}
			key, err := t.int(b, keyColumn, int(place))
			if err != nil {
				return err
			}
			t.kill(key, i*blockRows+int(place))
		}
	}
	return nil
}

// Columns of our own beside those of the schema: the keys, and what tells whether a row is what it was, among others.
const (
	keyColumn    = ""
	digestColumn = "\x00"
	lowColumn    = "\x02" // and a name: the texts of that column with A to Z as a to z, where they differ
	ranksColumn  = "\x01" // where each place stands in the order of the first of the schema's texts
)

func (t *Table) place(key int64) (int, bool) {
	p := t.at[key/atPage]
	if p == nil || p[key%atPage] == 0 {
		return 0, false
	}
	return int(p[key%atPage]) - 1, true
}

func (t *Table) kill(key int64, place int) {
	t.blocks[place/blockRows].alive.clear(place % blockRows)
	t.live--
	t.at[key/atPage][key%atPage] = 0
}

func (t *Table) append(r Row, digest int64) {
	b, i := t.blocks[len(t.blocks)-1], t.tail.n
	t.tail.append(t, r, digest)
	b.alive.set(i)
	t.live++
	p := t.at[r.Key/atPage]
	if p == nil {
		p = new([atPage]uint32)
		t.at[r.Key/atPage] = p
	}
	p[r.Key%atPage] = uint32((len(t.blocks)-1)*blockRows+i) + 1
}

// begin begins a block in memory.
func (t *Table) begin() {
	t.tail = newCells()
	t.blocks = append(t.blocks, &block{})
}

// digest tells whether a row is what it was.
func (t *Table) digest(r Row) int64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	number := func(n uint64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(n >> (8 * i))
		}
		h.Write(b[:])
	}
	text := func(s string) {
		number(uint64(len(s)))
		h.WriteString(s)
	}
	for _, n := range r.Ints {
		number(uint64(n))
	}
	for _, s := range r.Words {
		text(s)
	}
	for _, s := range r.Texts {
		text(s)
	}
	number(uint64(len(r.Tags)))
	for _, tag := range r.Tags {
		text(tag.Column)
		text(tag.Text)
	}
	for _, n := range r.Numbers {
		text(n.Column)
		number(math.Float64bits(n.Value))
	}
	return int64(h.Sum64())
}

// Take takes the rows of another table, which is of no use afterwards, in place of its own.
func (t *Table) Take(other *Table) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.file
	t.seed, t.file, t.size, t.blocks, t.tail, t.words, t.at, t.live =
		other.seed, other.file, other.size, other.blocks, other.tail, other.words, other.at, other.live
	err := old.Close()
	_ = os.Remove(old.Name())
	return err
}
