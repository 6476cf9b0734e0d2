import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** Fails a build whose list of runs needs more script than so many kB of gzip before anything is shown. */
export const budget = (most: number): Plugin => ({
  name: 'budget',
  apply: 'build',
  generateBundle(_, bundle) {
    const chunks = new Map(Object.values(bundle).flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one]] : [])));
    const needed = new Set([...chunks.values()].filter(({ isEntry }) => isEntry).map(({ fileName }) => fileName));
    for (const name of needed) {
      for (const other of chunks.get(name)?.imports ?? []) needed.add(other);
    }
    const sizes = [...needed].map((name) => [name, gzipSync(chunks.get(name)?.code ?? '').length / 1000] as const);
    const sum = sizes.reduce((all, [, size]) => all + size, 0);
    if (sum <= most) return;
    const parts = sizes.map(([name, size]) => `${name} ${size.toFixed(1)}`).join(', ');
    this.error(
      `the first page needs ${sum.toFixed(1)} kB of script, of ${most} that it may: ${parts}. Load with lazy() what the list of runs does not show at once`,
    );
  },
});
