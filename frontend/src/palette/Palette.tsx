import { Kbd, Modal, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { pipelinesQuery } from '../api/pipelines';
import { runsQuery } from '../api/runs';
import { quoted } from '../api/search';
import { type Act, actsOffered } from './acts';
import classes from './Palette.module.css';
import { type PageEntry, usePages } from './pages';
import { usePreferenceActs } from './usePreferenceActs';

interface Entry {
  key: string;
  label: string;
  kind: string;
  go: () => void;
}

const shownOfKind = 6;

interface PaletteProps {
  onClose: () => void;
  onUpload: () => void;
}

/** Goes to any page, run or pipeline by a part of its name, and does what the page offers. */
export default function Palette({ onClose, onUpload }: PaletteProps) {
  const { t } = useTranslation();
  const listID = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const entries = useEntries(text, onUpload);
  useEffect(() => {
    document.getElementById(`${listID}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [listID, at]);

  const pick = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by !== 0) {
      event.preventDefault();
      setAt((old) => (old + by + entries.length) % Math.max(1, entries.length));
    }
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) pick(entries[at]);
  };
  return (
    <Modal opened onClose={onClose} withCloseButton={false} size="lg" padding={0} aria-label={t('palette.title')}>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        classNames={{ input: classes.field }}
        px="md"
        role="combobox"
        aria-label={t('palette.title')}
        aria-expanded
        aria-controls={listID}
        aria-activedescendant={entries[at] ? `${listID}-${at}` : undefined}
        placeholder={t('palette.placeholder')}
        leftSection={<IconSearch size={18} aria-hidden />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={listID} aria-label={t('palette.title')} className={classes.list}>
        {entries.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, as in every combobox
          <div
            key={entry.key}
            id={`${listID}-${i}`}
            role="option"
            aria-selected={i === at}
            tabIndex={-1}
            className={classes.entry}
            onMouseMove={() => setAt(i)}
            onClick={() => pick(entry)}
          >
            <span className="break">{entry.label}</span>
            <Text span size="xs" c="dimmed">
              {entry.kind}
            </Text>
          </div>
        ))}
      </div>
      <Text size="xs" c="dimmed" p="xs" ta="center" role="status">
        {entries.length === 0 ? t('palette.nothing') : <Hints />}
      </Text>
    </Modal>
  );
}

function Hints() {
  const { t } = useTranslation();
  return (
    <>
      <Kbd size="xs">↑</Kbd> <Kbd size="xs">↓</Kbd> {t('palette.choose')} · <Kbd size="xs">Enter</Kbd>{' '}
      {t('palette.open')} · <Kbd size="xs">Esc</Kbd> {t('action.close')}
    </>
  );
}

function useEntries(text: string, onUpload: () => void): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const pages = usePages();
  const preferences = usePreferenceActs();
  const upload = { key: 'upload', label: t('pipelines.upload'), to: t('pages.pipelines'), act: onUpload };
  const [sought] = useDebouncedValue(text.trim(), 200);
  const search = { q: sought, size: shownOfKind };
  const held = { enabled: sought !== '', placeholderData: keepPreviousData };
  const pipelines = useQuery({ ...pipelinesQuery(search), ...held });
  const runs = useQuery({ ...runsQuery({ q: quoted(sought), size: shownOfKind }, {}, client), ...held });
  const fits = ({ label }: Pick<PageEntry, 'label'>) => label.toLowerCase().includes(text.trim().toLowerCase());
  // While the server is asked, what it found for fewer letters stays, as far as it still fits: Enter must go where the words lead.
  const found = <T extends { name: string }>({
    data,
    isPlaceholderData,
  }: {
    data?: { items: T[] };
    isPlaceholderData: boolean;
  }) => {
    const items = sought ? (data?.items ?? []) : [];
    return isPlaceholderData || sought !== text.trim() ? items.filter(({ name }) => fits({ label: name })) : items;
  };
  const acts = (all: Act[]) =>
    all.filter(fits).map(({ key, label, to, act }) => ({ key: `act ${key}`, label, kind: to, go: act }));
  return [
    ...acts(actsOffered()),
    ...pages.filter(fits).map(({ to, label }) => ({
      key: to,
      label,
      kind: t('palette.page'),
      go: () => void navigate({ to }),
    })),
    ...acts([upload, ...preferences]),
    ...found(pipelines).map(({ id, name }) => ({
      key: id,
      label: name,
      kind: t('field.pipeline'),
      go: () => void navigate({ to: '/pipelines/$pipelineId', params: { pipelineId: id } }),
    })),
    ...found(runs).map(({ id, name }) => ({
      key: id,
      label: name,
      kind: t('field.run'),
      go: () => void navigate({ to: '/runs/$runId', params: { runId: id } }),
    })),
  ];
}
