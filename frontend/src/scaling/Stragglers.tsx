import { Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ScalingLine } from '../api/scaling';
import { percent } from './numbers';
import classes from './Scaling.module.css';

/** This much slower than the fastest, or more, is the darkest. */
const darkest = 0.2;

/** The ranks of each cell beside each other: the slower, the darker. */
export function Stragglers({ line }: { line: ScalingLine }) {
  const { t, i18n } = useTranslation();
  const known = (line.cells ?? []).filter(({ stragglers }) => (stragglers?.length ?? 0) > 0);
  if (known.length === 0) return null;
  return (
    <section aria-label={t('scaling.stragglers')}>
      <Title order={3} size="h6">
        {t('scaling.stragglers')}
      </Title>
      <Text size="xs" c="dimmed" mb={6}>
        {t('scaling.stragglersText')}
      </Text>
      {known.map(({ at, stragglers = [] }) => {
        const slowest = stragglers.indexOf(Math.min(...stragglers));
        const share = percent(stragglers[slowest] ?? 0, i18n.language);
        return (
          <div key={at} className={classes.strip}>
            <span className={classes.stripName}>{at}</span>
            <div
              role="img"
              aria-label={t('scaling.slowest', { cell: at, rank: slowest, share })}
              className={classes.heat}
            >
              {stragglers.map((speed, rank) => (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: a rank is its place
                  key={rank}
                  title={t('scaling.rankSpeed', { rank, share: percent(speed, i18n.language) })}
                  style={{ opacity: 0.12 + 0.88 * Math.min(1, (1 - speed) / darkest) }}
                />
              ))}
            </div>
            <Text span size="xs" c="dimmed">
              {t('scaling.slowestShort', { rank: slowest, share })}
            </Text>
          </div>
        );
      })}
    </section>
  );
}
