import { Button, Group, Text } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Page, Run } from '../api/client';
import { useActs } from '../palette/acts';

/** What a list shows: the runs of its page, and those that are pinned. */
interface Rows {
  page: Page<Run>;
  top: Run[];
}

interface Held extends Rows {
  list: string;
}

/** Holds the rows of a list while the reader pauses it. Another list, such as the next page, is held as it comes. */
export function useHold(list: string, page: Page<Run> | undefined, top: Run[], settled: boolean) {
  const [paused, setPaused] = useState(false);
  const [held, setHeld] = useState<Held>();
  const now = page && settled ? { list, page, top } : undefined;
  if (paused && now && held?.list !== list) setHeld(now);
  const hold = paused && held?.list === list ? held : undefined;
  const known = hold && new Map(allOf(hold).map((run) => [run.id, run]));
  return {
    page: hold?.page ?? page,
    top: top.map((run) => known?.get(run.id) ?? run),
    pause: {
      paused,
      changes: hold && now ? changesOf(hold, now) : 0,
      onPause: (wanted: boolean) => {
        setHeld(now);
        setPaused(wanted);
      },
      onShow: () => setHeld(now),
    },
  };
}

const allOf = ({ page, top }: Rows) => [...top, ...page.items];

/** How many rows would change, come or go. */
function changesOf(held: Rows, now: Rows): number {
  const before = new Map(allOf(held).map((run) => [run.id, run]));
  const after = new Map(allOf(now).map((run) => [run.id, run]));
  const same = (id: string, run: Run) => {
    const old = before.get(id);
    return old === run || JSON.stringify(old) === JSON.stringify(run);
  };
  const came = [...after].filter(([id, run]) => !same(id, run)).length;
  return came + [...before.keys()].filter((id) => !after.has(id)).length;
}

/** Pauses a list, says how many changes wait meanwhile, and shows them. */
export function Pause({ paused, changes, onPause, onShow }: ReturnType<typeof useHold>['pause']) {
  const { t } = useTranslation();
  const Icon = paused ? IconPlayerPlay : IconPlayerPause;
  const label = t(paused ? 'runs.resume' : 'runs.pause');
  const toggle = () => onPause(!paused);
  useActs([{ key: 'pause', label, to: t('pages.runs'), act: toggle }]);
  return (
    <Group gap="xs">
      <Button variant="default" leftSection={<Icon size={16} aria-hidden />} onClick={toggle}>
        {label}
      </Button>
      <Text size="sm" c="dimmed" role="status">
        {paused && t('runs.changes', { count: changes })}
      </Text>
      {changes > 0 && (
        <Button variant="subtle" size="compact-sm" onClick={onShow}>
          {t('runs.showChanges')}
        </Button>
      )}
    </Group>
  );
}
