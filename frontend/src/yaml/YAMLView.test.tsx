import { EditorState } from '@codemirror/state';
import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { renderAt } from '../test/render';
import { difference } from './editor';
import YAMLView, { asYAML } from './YAMLView';

const workflow =
  'kind: Workflow\nspec:\n  entrypoint: main\n  templates:\n    - name: "main"\n      inputs: {} # none\n';

function show(text: string) {
  renderAt('/', '/', () => <YAMLView text={text} file="wf.yaml" />);
}

it('colours keys, texts and comments', async () => {
  show(workflow);
  const text = await screen.findByRole('textbox', { name: 'wf.yaml' });
  const coloured = [...text.querySelectorAll('span')].map((span) => span.textContent);
  expect(coloured).toContain('entrypoint');
  expect(coloured).toContain('"main"');
  expect(coloured).toContain('# none');
});

it('folds to the fields of the top, and unfolds', async () => {
  show(workflow);
  const text = await screen.findByRole('textbox', { name: 'wf.yaml' });
  await userEvent.click(screen.getByRole('button', { name: 'Fold all' }));
  expect(text.textContent).toContain('kind: Workflow');
  expect(text.textContent).not.toContain('entrypoint');
  await userEvent.click(screen.getByRole('button', { name: 'Unfold all' }));
  expect(text.textContent).toContain('entrypoint: main');
});

it('finds a text and marks it', async () => {
  show(workflow);
  const text = await screen.findByRole('textbox', { name: 'wf.yaml' });
  await userEvent.click(screen.getByRole('button', { name: 'Find' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Find' }), 'main');
  expect(text.querySelectorAll('.cm-searchMatch')).toHaveLength(2);
});

it('keeps what is folded when the text changes elsewhere', async () => {
  renderAt('/', '/', Changing);
  const text = await screen.findByRole('textbox', { name: 'wf.yaml' });
  await userEvent.click(screen.getByRole('button', { name: 'Fold all' }));
  await userEvent.click(screen.getByRole('button', { name: 'change' }));
  expect(text.textContent).toContain('phase: Succeeded');
  expect(text.textContent).not.toContain('entrypoint');
});

function Changing() {
  const [phase, setPhase] = useState('Running');
  return (
    <>
      <button type="button" onClick={() => setPhase('Succeeded')}>
        change
      </button>
      <YAMLView text={`${workflow}phase: ${phase}\n`} file="wf.yaml" />
    </>
  );
}

it.each([
  ['', 'a: 1\n'],
  ['a: 1\n', ''],
  ['a: 11\n', 'a: 1\n'],
  ['a: 1\nb: 2\n', 'a: 1\nc: 3\nb: 2\n'],
])('finds the change from %j to %j', (before, after) => {
  expect(
    EditorState.create({ doc: before })
      .update({ changes: difference(before, after) })
      .state.doc.toString(),
  ).toBe(after);
});

it('shows JSON as YAML, and YAML as it is', () => {
  expect(asYAML('{"a":{"b":[1]}}')).toBe('a:\n  b:\n    - 1\n');
  expect(asYAML('a: 1 # kept\n')).toBe('a: 1 # kept\n');
  expect(asYAML('{not json')).toBe('{not json');
});
