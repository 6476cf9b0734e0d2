import { describe, expect, it } from 'vitest';
import { coloured } from './LogLine';
import { Lines, maxLines, plain } from './lines';
import { cut, firstError, lineOfHash, matches } from './search';

const linesOf = (...chunks: string[]) => {
  const lines = new Lines();
  for (const chunk of chunks) lines.append(chunk);
  return lines.snapshot();
};

describe('Lines', () => {
  it('joins what comes in pieces', () => expect(linesOf('one\ntw', 'o\nthr', 'ee')).toEqual(['one', 'two', 'three']));
  it('has no line after the last newline', () => expect(linesOf('one\n')).toEqual(['one']));
  it('keeps empty lines', () => expect(linesOf('\n\na\n')).toEqual(['', '', 'a']));
  it('takes CRLF, cut in the middle too', () => expect(linesOf('a\r', '\nb\r\n')).toEqual(['a', 'b']));
  it('shows the last state of a progress bar', () =>
    expect(linesOf('10%\r20%\r', '30%\ndone')).toEqual(['30%', 'done']));
  it('drops the oldest lines beyond its limit, and counts them', () => {
    const lines = new Lines();
    const count = maxLines * 1.2;
    lines.append('x\n'.repeat(count));
    lines.append('last');
    expect(lines.dropped).toBe(count - maxLines);
    expect(lines.snapshot()).toHaveLength(maxLines + 1);
    expect(lines.snapshot().at(-1)).toBe('last');
  });
});

describe('terminal colours', () => {
  it('become classes, and the text is escaped', () => {
    const html = coloured('\u001b[31m<b>bad</b>\u001b[0m');
    expect(html).toContain('ansi-red-fg');
    expect(html).toContain('&lt;b&gt;bad&lt;/b&gt;');
  });
  it('make no links', () => {
    expect(coloured('\u001b]8;;https://example.org\u0007here\u001b]8;;\u0007')).not.toContain('<a');
  });
  it('are left out of plain text', () => {
    expect(plain('\u001b[1;31merror\u001b[0m \u001b]0;title\u0007done')).toBe('error done');
  });
});

describe('search', () => {
  it('finds whatever the case, through colours', () => {
    expect(matches(['Loss 1', 'nothing', '\u001b[31mlo\u001b[0mss'], 'LOSS')).toEqual([0, 2]);
    expect(matches(['a'], '')).toEqual([]);
  });
  it('cuts a line at its matches', () => {
    expect(cut('Loss and loss', 'loss')).toEqual(['', 'Loss', ' and ', 'loss', '']);
    expect(cut('none', 'x')).toEqual(['none']);
  });
  it('reads line links', () => {
    expect(lineOfHash('#L120')).toBe(120);
    expect(lineOfHash('L7')).toBe(7);
    expect(lineOfHash('#Lx')).toBeUndefined();
  });
});

describe('firstError', () => {
  it('finds what tells of an error, and not what tells of none', () => {
    expect(firstError(['errors: 0', 'no error so far', 'terrors', 'Traceback (most recent call last):'])).toBe(3);
    expect(firstError(['ok', 'ValueError: x'])).toBe(1);
    expect(firstError(['[1,0]<stderr>:x.py: error: no such choice'])).toBe(0);
    expect(firstError(['all well'])).toBe(-1);
  });
});
