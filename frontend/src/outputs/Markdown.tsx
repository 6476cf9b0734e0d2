import { Fragment, type ReactNode } from 'react';
import classes from './Outputs.module.css';

/** Markdown as a step wrote it. It becomes elements, never HTML, so it can bring no script in; HTML in it stands there as text. */
export function Markdown({ text }: { text: string }) {
  return <div className={classes.markdown}>{blocksOf(text).map(drawBlock)}</div>;
}

type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'code' | 'text'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] }
  | { kind: 'table'; rows: string[][] };

const item = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const rule = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;

function blocksOf(text: string): Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const blocks: Block[] = [];
  let i = 0;
  const take = (belongs: (line: string) => boolean) => {
    const taken: string[] = [];
    while (i < lines.length && belongs(lines[i] as string)) taken.push(lines[i++] as string);
    return taken;
  };
  while (i < lines.length) {
    const line = lines[i] as string;
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    const listed = item.exec(line);
    if (line.trim() === '') i++;
    else if (heading) {
      blocks.push({ kind: 'heading', level: (heading[1] ?? '').length, text: heading[2] ?? '' });
      i++;
    } else if (line.startsWith('```')) {
      i++;
      blocks.push({ kind: 'code', text: take((next) => !next.startsWith('```')).join('\n') });
      i++;
    } else if (listed) {
      const items = take((next) => item.test(next)).map((next) => item.exec(next)?.[2] ?? '');
      blocks.push({ kind: 'list', ordered: Boolean(listed[1]), items });
    } else if (line.includes('|') && rule.test(lines[i + 1] ?? '')) {
      const rows = take((next) => next.includes('|')).filter((_, row) => row !== 1);
      blocks.push({ kind: 'table', rows: rows.map(cellsOf) });
    } else {
      const first = take(
        (next) => next.trim() !== '' && !next.startsWith('#') && !next.startsWith('```') && !item.test(next),
      );
      // A line such as "#x" belongs to no other block.
      blocks.push({ kind: 'text', text: first.length > 0 ? first.join('\n') : (lines[i++] as string) });
    }
  }
  return blocks;
}

const cellsOf = (row: string) =>
  row
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

function drawBlock(block: Block, key: number): ReactNode {
  switch (block.kind) {
    case 'heading': {
      // The page has headings of its own above these.
      const Heading = `h${Math.min(6, block.level + 2)}` as 'h3';
      return <Heading key={key}>{inline(block.text)}</Heading>;
    }
    case 'code':
      return (
        <pre key={key} tabIndex={0}>
          {block.text}
        </pre>
      );
    case 'list': {
      const List = block.ordered ? 'ol' : 'ul';
      return (
        <List key={key}>
          {block.items.map((text, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: what a step wrote does not change
            <li key={i}>{inline(text)}</li>
          ))}
        </List>
      );
    }
    case 'table':
      return <MarkdownTable key={key} rows={block.rows} />;
    default:
      return <p key={key}>{inline(block.text)}</p>;
  }
}

function MarkdownTable({ rows: [head = [], ...rows] }: { rows: string[][] }) {
  const row = (cells: string[], Cell: 'th' | 'td') =>
    // biome-ignore lint/suspicious/noArrayIndexKey: what a step wrote does not change
    cells.map((cell, i) => <Cell key={i}>{inline(cell)}</Cell>);
  return (
    <table>
      <thead>
        <tr>{row(head, 'th')}</tr>
      </thead>
      <tbody>
        {rows.map((cells, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <tr key={i}>{row(cells, 'td')}</tr>
        ))}
      </tbody>
    </table>
  );
}

const spans = /(`[^`]+`|\*\*[^*]+\*\*|__[^_]+__|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)\s]+\))/g;

function inline(text: string): ReactNode[] {
  return text.split(spans).map((piece, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: what a step wrote does not change
    <Fragment key={i}>{i % 2 === 0 ? piece : span(piece)}</Fragment>
  ));
}

function span(piece: string): ReactNode {
  if (piece.startsWith('`')) return <code>{piece.slice(1, -1)}</code>;
  if (piece.startsWith('**') || piece.startsWith('__')) return <strong>{piece.slice(2, -2)}</strong>;
  if (piece.startsWith('*')) return <em>{piece.slice(1, -1)}</em>;
  const [, label = '', target = ''] = /^\[([^\]]+)\]\(([^)\s]+)\)$/.exec(piece) ?? [];
  // A link may lead to the web; javascript: and the server's own addresses are left as text.
  if (!/^https?:\/\//i.test(target)) return piece;
  return (
    <a href={target} target="_blank" rel="noreferrer noopener">
      {label}
    </a>
  );
}
