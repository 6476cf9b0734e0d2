import { describe, expect, it } from 'vitest';
import { colourYAML } from './colour';
import { asYAML } from './YAMLView';

const kinds = (line: string) => colourYAML(line).map(({ text, kind }) => [text, kind]);

describe('colourYAML', () => {
  it('loses nothing of any line', () => {
    for (const line of ['', 'a: b', '  - name: x # c', '"q: r": 1', '- - x', ': odd', '  text: a: b', "'", '# only']) {
      expect(
        colourYAML(line)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(line);
    }
  });
  it('knows keys, strings, literals and comments', () => {
    expect(kinds('  name: "x"')).toEqual([
      ['  ', undefined],
      ['name', 'key'],
      [':', 'mark'],
      [' "x"', 'string'],
    ]);
    expect(kinds('n: 3').at(-1)).toEqual([' 3', 'literal']);
    expect(kinds('# c')).toEqual([['# c', 'comment']]);
  });
});

describe('asYAML', () => {
  it('turns JSON into YAML', () => expect(asYAML('{"a":{"b":[1]}}')).toBe('a:\n  b:\n    - 1\n'));
  it('leaves YAML and broken JSON as they are', () => {
    expect(asYAML('a: 1 # kept\n')).toBe('a: 1 # kept\n');
    expect(asYAML('{"a":')).toBe('{"a":');
  });
});
