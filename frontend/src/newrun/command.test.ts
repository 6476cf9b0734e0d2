import { expect, it } from 'vitest';
import { commandLine, curl, editLine, shellWord } from './command';
import { newTrigger } from './triggerDraft';

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

it('writes what differs as the command that changes a schedule', () => {
  const trigger = {
    ...newTrigger,
    kind: 'cron' as const,
    cron: '@daily',
    start: '2030-01-31T08:00',
    maxConcurrency: 2,
  };
  const before = {
    name: 'every night',
    description: 'old',
    versionID: 'v1',
    experimentID: 'e1',
    parameters: [],
    trigger,
  };
  const start = new Date('2030-01-31T08:00').toISOString();
  const same = { ...run, ...before, trigger: { cron: '@daily', start }, maxConcurrency: 2, catchUp: true };
  const names = { pipeline: 'sweep', version: 'two', experiment: 'Other' };
  expect(editLine(before, same, names)).toBe("argosy schedule edit 'every night'");
  const changed = {
    ...same,
    name: 'hourly',
    description: '',
    versionID: 'v2',
    experimentID: 'e2',
    trigger: { seconds: 3600 },
    maxConcurrency: 1,
    catchUp: false,
    parameters: [{ name: 'rate', value: '' }],
  };
  expect(editLine(before, changed, names)).toBe(
    "argosy schedule edit 'every night' --name hourly --description '' --version two --experiment Other --every 3600s" +
      " --start '' --max-concurrency 1 --no-catchup -p rate=",
  );
  expect(curl('http://h', run, changed, 's1')).toContain('curl -X PUT http://h/apis/argosy/v1/schedules/s1');
});
