package scrape

// Held is how many bytes of unfinished lines the scanner keeps.
func (s *Scanner) Held() int { return s.split.size + len(s.split.raw) }
