import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { tarOf } from '../test/tar';
import { csvRows } from './csv';
import { kindOf } from './kind';
import { mostUnpacked, unpack } from './unpack';

const zip = (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes));
const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

describe('unpack', () => {
  it('gives the files of a .tar.gz', async () => {
    const { files, cut } = await unpack(zip(tarOf({ 'out/a.txt': 'one', 'out/b.csv': 'x,y\n1,2\n' })), 'out');
    expect(files.map(({ name, size }) => [name, size])).toEqual([
      ['out/a.txt', 3],
      ['out/b.csv', 8],
    ]);
    expect(new TextDecoder().decode(files[1]?.bytes)).toBe('x,y\n1,2\n');
    expect(cut).toBe(false);
  });

  it('takes what is no archive as it is', async () => {
    expect((await unpack(bytes('plain'), 'note')).files).toMatchObject([{ name: 'note', size: 5 }]);
  });

  it('stops where a small archive holds too much', async () => {
    const bomb = zip(tarOf({ zeros: '0'.repeat(mostUnpacked * 2) }));
    expect(bomb.length).toBeLessThan(mostUnpacked / 100);
    const { files, cut } = await unpack(bomb, 'x');
    expect(cut).toBe(true);
    expect(files[0]?.bytes.length).toBeLessThan(mostUnpacked * 1.1);
    expect(files[0]?.size).toBe(mostUnpacked * 2);
  });

  it('refuses a damaged archive', async () => {
    const damaged = zip(tarOf({ a: 'x'.repeat(5000) })).slice(0, 40);
    await expect(unpack(damaged, 'x')).rejects.toThrow();
  });
});

describe('kindOf', () => {
  const kinds: [string, string, string][] = [
    ['report', '<h1>Sold</h1>', 'html'],
    ['report', '  <!DOCTYPE html><p>', 'html'],
    ['model', '{"a": 1}', 'json'],
    ['model', '{not json', 'text'],
    ['data', 'a,b\n1,2\n', 'csv'],
    ['notes', 'hello, world\nno comma here\n', 'text'],
    ['weights', 'a\0b', 'binary'],
  ];
  it.each(kinds)('%s: %j is %s', (name, text, kind) => expect(kindOf(name, bytes(text))).toBe(kind));
  it('knows an image by its first bytes', () => {
    expect(kindOf('x', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10]))).toBe('image');
  });
});

describe('csvRows', () => {
  it('reads quoted cells, and no more rows than asked for', () => {
    expect(csvRows('a,"b ""c"", d"\r\n"x\ny",2', 9)).toEqual([
      ['a', 'b "c", d'],
      ['x\ny', '2'],
    ]);
    expect(csvRows('1\n2\n3\n', 2)).toEqual([['1'], ['2']]);
  });
});
