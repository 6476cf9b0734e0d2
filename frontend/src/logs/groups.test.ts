import { expect, it } from 'vitest';
import { Groups, groupsOf, shownLines } from './groups';
import { Lines, maxLines } from './lines';
import { MergedLines } from './merged';

const folded = () => true;

/** The lines that are shown of a text whose groups are folded. */
function seen(text: string) {
  const lines = new Lines();
  lines.append(text);
  const held = lines.held();
  return (shownLines(held, folded) ?? [...held.lines.keys()]).map((i) => held.lines[i]);
}

it('folds the lines between two marks, as GitHub Actions and Azure Pipelines write them', () => {
  expect(seen('a\n::group::Install\nb\nc\n::endgroup::\nd\n')).toEqual(['a', '::group::Install', 'd']);
  expect(seen('##[group]Install\nb\n##[endgroup]\nd\n')).toEqual(['##[group]Install', 'd']);
  const { groups } = groupsOf(['x', '::group:: Install ', 'b', 'c', '::endgroup::'], 101);
  expect(groups).toEqual([{ title: 'Install', log: 0, first: 102, last: 105, at: 102, count: 2 }]);
});

it('takes other lines as they are: a mark within a line, an end without a beginning', () => {
  for (const text of ['say ::group::x\nb\n', '::endgroup::\nb\n', '::grouping\n#x\n:\n\n']) {
    expect(seen(text)).toEqual(text.split('\n').slice(0, -1));
  }
});

it('ends a group where the next begins, and leaves one without an end open', () => {
  expect(seen('::group::A\na\n::group::B\nb\n::endgroup::\n')).toEqual(['::group::A', '::group::B']);
  expect(groupsOf(['::group::A', 'a', '::group::B', 'b'], 1).groups?.map(({ last }) => last)).toEqual([2, undefined]);
});

it('has the groups of each log apart: the lines of others between them stay', () => {
  const merged = new MergedLines();
  const log = (pod: string) => ({ log: { attempt: 1, pod, container: 'main' } });
  const line = (of: number, n: number, text: string) => ({ of, n, text });
  const all = [
    log('a'),
    log('b'),
    line(0, 1, '::group::A'),
    line(1, 1, 'b1'),
    line(0, 2, 'a1'),
    line(1, 2, '::group::B'),
    line(0, 3, '::endgroup::'),
    line(1, 3, 'b2'),
    line(0, 4, 'a2'),
  ];
  merged.append(all.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const held = merged.held();
  const rows = (fold: (title: string) => boolean) =>
    shownLines(held, ({ title }) => fold(title))?.map((i) => held.lines[i]);
  expect(rows((title) => title === 'A')).toEqual(['::group::A', 'b1', '::group::B', 'b2', 'a2']);
  expect(rows(() => false)).toEqual(['::group::A', 'b1', 'a1', '::group::B', 'b2', 'a2']);
});

it('shows lines whose first mark is not held any more, and forgets groups that are gone', () => {
  const lines = new Lines();
  lines.append(`::group::gone\nx\n::endgroup::\n::group::cut\n${'y\n'.repeat(maxLines * 1.2)}::endgroup::\nend\n`);
  const held = lines.held();
  expect(held.groups?.map(({ title }) => title)).toEqual(['cut']);
  expect(held.inGroup).toHaveLength(held.lines.length);
  expect(shownLines(held, folded)).toHaveLength(held.lines.length - 1);
});

it('costs nothing before the first mark', () => {
  const groups = new Groups();
  groups.add('a', 1, 1, 1);
  expect(groups.held()).toEqual({});
});
