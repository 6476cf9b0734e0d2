import { yaml } from '@codemirror/lang-yaml';
import { codeFolding, foldGutter, foldKeymap, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { type ChangeSpec, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { TFunction } from 'i18next';
import classes from './YAMLView.module.css';

const colours = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), class: classes.key },
  { tag: tags.string, class: classes.string },
  { tag: [tags.labelName, tags.typeName, tags.keyword], class: classes.literal },
  { tag: [tags.comment, tags.punctuation, tags.separator], class: classes.mark },
]);

// CodeMirror draws itself in light colours unless its theme says otherwise; these follow the page's.
const looks = EditorView.theme({
  '&': {
    flex: '1',
    minHeight: '0',
    background: 'var(--ar-log)',
    color: 'var(--ar-text)',
    fontSize: 'var(--ar-text-code)',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)', outlineOffset: '-2px' },
  '.cm-scroller': { overflow: 'auto', fontFamily: 'var(--ar-font-code)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--ar-text)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    background: 'var(--ar-run-bg)',
  },
  '.cm-gutters': { border: '0', background: 'transparent', color: 'var(--ar-dimmed)' },
  '.cm-foldPlaceholder': {
    margin: '0 var(--ar-space-4)',
    border: '1px solid var(--ar-line-strong)',
    background: 'var(--ar-raised)',
    color: 'var(--ar-dimmed)',
  },
  '.cm-panels': {
    background: 'var(--ar-raised)',
    color: 'var(--ar-text)',
    fontFamily: 'var(--ar-font)',
  },
  '.cm-panels-top': { borderBottom: '1px solid var(--ar-line)' },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    gap: 'var(--ar-space-6) var(--ar-space-8)',
    alignItems: 'center',
    padding: 'var(--ar-space-6) var(--ar-space-32) var(--ar-space-6) var(--ar-space-8)',
  },
  '.cm-panel.cm-search br': { display: 'none' },
  '.cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label': { margin: '0' },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    gap: 'var(--ar-space-4)',
    alignItems: 'center',
    fontSize: 'var(--ar-text-xs)',
  },
  '.cm-panel .cm-textfield, .cm-panel .cm-button': {
    padding: 'var(--ar-space-2) var(--ar-space-8)',
    border: '1px solid var(--ar-line-strong)',
    borderRadius: 'var(--ar-radius-sm)',
    background: 'var(--ar-surface)',
    color: 'inherit',
    fontSize: 'var(--ar-text-xs)',
  },
  '.cm-panel.cm-search [name=close]': {
    top: '6px',
    right: '6px',
    width: '24px',
    height: '24px',
    color: 'inherit',
    cursor: 'pointer',
  },
  '.cm-searchMatch, .cm-selectionMatch': { background: 'var(--ar-mark)', color: 'var(--ar-mark-text)' },
  '.cm-searchMatch *': { color: 'inherit' },
  '.cm-searchMatch.cm-searchMatch-selected': {
    outline: '2px solid var(--ar-mark-text)',
    background: 'var(--ar-mark)',
  },
});

/** A document whose text readers can search, fold and select, but not change. Screen readers call it by its label. */
export function manifestState(label: string, t: TFunction, doc = '', more: Extension[] = []): EditorState {
  return EditorState.create({
    doc,
    extensions: [
      ...more,
      EditorState.readOnly.of(true),
      EditorState.phrases.of(phrases(t)),
      EditorView.contentAttributes.of({
        'aria-label': label,
        'aria-readonly': 'true',
        inputmode: 'none',
        tabindex: '0',
      }),
      EditorView.lineWrapping,
      looks,
      yaml(),
      syntaxHighlighting(colours),
      lineNumbers(),
      codeFolding(),
      foldGutter(),
      search({ top: true }),
      highlightSelectionMatches(),
      keymap.of([...searchKeymap, ...foldKeymap]),
    ],
  });
}

/** The one change that makes a text of another: what both begin and end with stays. */
export function difference(before: string, after: string): ChangeSpec {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from++;
  let end = 0;
  while (end < shorter - from && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

/** CodeMirror's own words, as it asks for them. */
function phrases(t: TFunction): Record<string, string> {
  return {
    Find: t('yaml.find'),
    next: t('yaml.next'),
    previous: t('yaml.previous'),
    all: t('yaml.all'),
    'match case': t('yaml.matchCase'),
    regexp: t('yaml.pattern'),
    'by word': t('yaml.wholeWord'),
    close: t('action.close'),
    'current match': t('yaml.match'),
    'on line': t('yaml.onLine'),
    'Fold line': t('yaml.fold'),
    'Unfold line': t('yaml.unfold'),
    'Folded lines': t('yaml.folded'),
    'Unfolded lines': t('yaml.unfolded'),
    'folded code': t('yaml.folded'),
    unfold: t('yaml.unfold'),
    to: t('yaml.to'),
    'Go to line': t('yaml.goToLine'),
    go: t('yaml.go'),
    '$ unchanged lines': t('diff.unchanged'),
  };
}
