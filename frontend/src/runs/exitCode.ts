/** What an exit code means to a person; undefined where it says nothing beyond its number. */
export type ExitMeaning =
  | 'outOfMemory'
  | 'killed'
  | 'terminated'
  | 'segfault'
  | 'abort'
  | 'notFound'
  | 'notExecutable'
  | 'usage'
  | 'interrupted';

const meanings: Record<string, ExitMeaning> = {
  2: 'usage',
  126: 'notExecutable',
  127: 'notFound',
  130: 'interrupted',
  134: 'abort',
  137: 'killed',
  139: 'segfault',
  143: 'terminated',
};

/** Reads an exit code, with the message beside it: only that tells a lack of memory from another kill. */
export function exitMeaning(code: string | undefined, message: string | undefined): ExitMeaning | undefined {
  if (/\bOOMKilled\b|out of memory|CUDA error: out of memory/i.test(message ?? '')) return 'outOfMemory';
  return meanings[code ?? ''];
}
