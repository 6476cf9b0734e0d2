import { describe, expect, it } from 'vitest';
import { later } from './en';
import { shell } from './en/shell';
import { zhCN } from './zh-CN';

const en = { ...shell, ...later };

type Tree = { [key: string]: string | Tree };

function leaves(tree: Tree, path = ''): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${path}${key}`, value] as [string, string]] : leaves(value, `${path}${key}.`),
  );
}

const slots = (text: string) => [...text.matchAll(/\{\{\s*(\w+)/g)].map((found) => found[1]).sort();

describe('translations', () => {
  const english = new Map(leaves(en));
  const chinese = new Map(leaves(zhCN));

  it('have the same keys', () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  });

  it('are not empty, and take the same values', () => {
    for (const [key, text] of english) {
      expect(chinese.get(key), key).not.toBe('');
      expect(slots(chinese.get(key) ?? ''), key).toEqual(slots(text));
    }
  });

  it('are Chinese in Chinese', () => {
    const same = [...english].filter(([key, text]) => chinese.get(key) === text).map(([key]) => key);
    // Names, and words that Chinese readers use as they are.
    expect(same.sort()).toEqual(
      ['app.name', 'field.id', 'field.none', 'field.pod', 'metrics.rank', 'pipeline.yaml', 'run.yaml'].sort(),
    );
  });
});

describe('every text', () => {
  it('is used', async () => {
    const sources = import.meta.glob('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });
    const code = Object.entries(sources)
      .filter(([file]) => !file.includes('/i18n/') && !file.endsWith('.test.ts') && !file.endsWith('.test.tsx'))
      .map(([, text]) => text)
      .join('\n');
    // Keys that are put together: t(`status.${status}`), t(`run.${liveness}`), t(`newRun.rule.${type}`), t(`pipeline.type.${type}`), t(`bulk.${action}Title`), t(`job.state.${state}`), t(`components.kind.${kind}`), and plurals.
    const composed =
      /^status\.|^graph\.change\.|^run\.(live|connecting|retrying)(Hint)?$|^metrics\.(axis\.|result$|last$|min$|max$|points$)|^timeline\.(waiting|pulling|running|earlier)$|^cause\.(do\.)?[a-zA-Z]+$|^newRun\.rule\.[A-Z]|^pipeline\.type\.|^bulk\.(terminate|retry|archive|unarchive|delete)(Title|Text)?$|^bulk\.(would|was)\.|^trigger\.units\.|^job\.state\.|^pending\.untilBy\.|^cluster\.(memory|pods)$|^term\.|^components\.kind\./;
    const unused = leaves(en)
      .map(([key]) => key.replace(/_(one|other)$/, ''))
      .filter((key) => !composed.test(key) && !code.includes(`'${key}'`));
    expect(unused).toEqual([]);
  });
});

describe('the texts that are loaded at once', () => {
  it('are all that the frame and the list of runs need', () => {
    const sources = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });
    const files = new Set(['../main.tsx']);
    for (const file of files) {
      const folder = file.startsWith('./') ? './' : file.replace(/[^/]*$/, '');
      for (const [, path = ''] of (sources[file] ?? '').matchAll(/^(?:import(?! type)|\}) .*from '(\.[^']*)';$/gm)) {
        const wanted = new URL(path, `file:///src/i18n/${folder}`).pathname.replace('/src/', '../');
        const found = [`${wanted}.ts`, `${wanted}.tsx`, `${wanted}/index.ts`].find((name) => relative(name) in sources);
        if (found) files.add(relative(found));
      }
    }
    expect(files).toContain('../runs/RunsTable.tsx');
    const here = new Set(leaves(shell).map(([key]) => key.replace(/_(one|other)$/, '')));
    const missing = [...files].flatMap((file) =>
      [...(sources[file] ?? '').matchAll(/\bt\([^)]*?'(\w+\.\w+)'(?:[^)]*?: '(\w+\.\w+)')?/g)]
        .flatMap(([, one, other]) => [one, other])
        .filter((key) => key && !here.has(key))
        .map((key) => `${file}: ${key}`),
    );
    expect(missing).toEqual([]);
  });
});

/** The name that import.meta.glob gives to a file of this folder. */
const relative = (name: string) => name.replace('../i18n/', './');
