export type Kind = 'key' | 'string' | 'literal' | 'comment' | 'mark';

export interface Piece {
  text: string;
  kind?: Kind;
}

const shape = /^(\s*(?:- +)*)((?:"[^"]*"|'[^']*'|[^\s#:"'][^:#]*?)(?=:(?:\s|$)))?(:)?(.*)$/;
const plainNumber = /^-?\d[\d_.eE+-]*$/;

/** Cuts a line of YAML into pieces to colour: good enough to read by, not a parser. */
export function colourYAML(line: string): Piece[] {
  if (/^\s*#/.test(line)) return [{ text: line, kind: 'comment' }];
  const [, lead = '', key = '', colon = '', rest = ''] = shape.exec(line) ?? [];
  const pieces: Piece[] = [];
  if (lead) pieces.push({ text: lead, kind: lead.includes('-') ? 'mark' : undefined });
  if (key) pieces.push({ text: key, kind: 'key' });
  if (colon) pieces.push({ text: colon, kind: 'mark' });
  const value = rest.trim();
  if (rest) pieces.push({ text: rest, kind: kindOf(value) });
  return pieces;
}

function kindOf(value: string): Kind | undefined {
  if (value.startsWith('#')) return 'comment';
  if (/^["']/.test(value)) return 'string';
  if (plainNumber.test(value) || /^(true|false|null)$/.test(value)) return 'literal';
  return undefined;
}
