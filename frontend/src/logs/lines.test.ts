import { describe, expect, it } from 'vitest';
import { coloured } from './LogLine';
import { Lines, maxLines, plain } from './lines';
import { cut, hashOf, placeOfHash } from './search';

const linesOf = (...chunks: string[]) => {
  const lines = new Lines();
  for (const chunk of chunks) lines.append(chunk);
  return lines.held().lines;
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
    expect(lines.held().lines).toHaveLength(maxLines + 1);
    expect(lines.held().lines.at(-1)).toBe('last');
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
  it('cuts a line at its matches', () => {
    expect(cut('Loss and loss', 'loss')).toEqual(['', 'Loss', ' and ', 'loss', '']);
    expect(cut('none', 'x')).toEqual(['none']);
  });
  it('reads line links', () => {
    expect(placeOfHash('#L120')).toEqual({ line: 120 });
    expect(placeOfHash('L7')).toEqual({ line: 7 });
    expect(placeOfHash('#Lx')).toBeUndefined();
    const place = { log: '1/train-worker-0/worker', line: 12 };
    expect(placeOfHash(hashOf(place))).toEqual(place);
  });
});
