import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sources = join(import.meta.dirname, '..');

/** All style sheets by their paths below src. Vitest empties those that tests import. */
export const styles: Record<string, string> = Object.fromEntries(
  readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.css'))
    .map((file) => [file, readFileSync(join(sources, file), 'utf8')]),
);

/** What app/tokens.css says. */
export const tokens = styles['app/tokens.css'] as string;
