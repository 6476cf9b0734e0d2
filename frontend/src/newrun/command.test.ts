import { expect, it } from 'vitest';
import { commandLine, curl, shellWord } from './command';

const run = {
  name: "it's mine",
  description: '',
  versionID: 'v1',
  experimentID: 'e1',
  parameters: [{ name: 'rates', value: '[0.1, 0.2]' }, { name: 'empty' }],
};

it.each([
  ['plain-word_1.0', 'plain-word_1.0'],
  ['two words', "'two words'"],
  ["it's", `'it'\\''s'`],
  ['', "''"],
  ['$HOME', "'$HOME'"],
])('%s as a word of a shell', (text, word) => expect(shellWord(text)).toBe(word));

it('writes the command of a run', () => {
  expect(commandLine(run, { pipeline: 'sweep', experiment: 'Default' })).toBe(
    `argosy run create --pipeline sweep --name 'it'\\''s mine' --experiment Default -p 'rates=[0.1, 0.2]' -p empty=`,
  );
});

it('writes the command and the request of a schedule', () => {
  const schedule = { ...run, trigger: { seconds: 600 }, maxConcurrency: 2, catchUp: false };
  const line = commandLine(run, { pipeline: 'sweep', version: 'two' }, schedule);
  expect(line).toContain('argosy schedule create --pipeline sweep --version two');
  expect(line).toContain('--every 600s --max-concurrency 2 --no-catchup');
  expect(curl('http://h', run, schedule)).toContain('curl -X POST http://h/apis/v1beta1/jobs');
  expect(curl('http://h', run, schedule)).toContain('"interval_second": "600"');
});
