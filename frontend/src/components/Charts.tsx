import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Awaiting } from '../feedback/Awaiting';
import type { Curve } from '../metrics/curves';
import { Legend } from '../metrics/Legend';
import { seriesColours } from '../metrics/look';
import { Example, Section } from './Section';

const CurvePlot = lazy(() => import('../metrics/CurvePlot'));

const steps = Array.from({ length: 40 }, (_, step) => step);
const curves: Curve[] = Array.from({ length: seriesColours }, (_, rank) => ({
  id: `${rank}`,
  label: `rank ${rank}`,
  x: steps,
  y: steps.map((step) => (seriesColours - rank) * (1 + 0.4 * Math.exp(-step / 12)) + 0.06 * Math.sin(step + rank)),
}));
const none = () => undefined;

/** Lines, in all colours that they have. */
export function Charts() {
  const { t } = useTranslation();
  const [place, setPlace] = useState<number>();
  return (
    <Section title={t('components.charts')} note={t('components.chartsNote')}>
      <Example name="CurvePlot, Legend" wide>
        <Suspense fallback={<Awaiting what={t('await.series')} />}>
          <CurvePlot
            curves={curves}
            label={t('components.chartLabel')}
            axis="step"
            format="RAW"
            log={false}
            logX={false}
            smooth={0}
            zoom={undefined}
            height={260}
            sync="components"
            onZoom={none}
            onPlace={setPlace}
          />
          <Legend curves={curves} place={place} format="RAW" />
        </Suspense>
      </Example>
    </Section>
  );
}
