import { Button, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Sample, samplesQuery, startSample } from '../api/samples';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';

/** What the samples do, in the reader's language. */
const texts = { mpi_run: 'home.sampleMPI', data_pipeline: 'home.sampleData' } as const;
const known = (name: string): name is keyof typeof texts => name in texts;

/** The samples of the server, each with a button that starts it and goes to its run. */
export function Samples() {
  const { t } = useTranslation();
  const samples = useQuery(samplesQuery);
  const navigate = useNavigate();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: startSample,
    onSuccess: async (runId) => {
      void client.invalidateQueries({ queryKey: ['runs'] });
      await navigate({ to: '/runs/$runId', params: { runId } });
    },
  });
  const what = t('home.awaitSamples');
  if (samples.error)
    return (
      <Failure title={t('failure.title', { what })} error={samples.error} onRetry={() => void samples.refetch()} />
    );
  if (!samples.data) return <Awaiting what={what} rows={2} />;
  return (
    <>
      {samples.data.map((sample, i) => (
        <Start
          key={sample.name}
          sample={sample}
          first={i === 0}
          busy={start.isPending}
          starts={start.isPending && start.variables === sample.name}
          onStart={() => start.mutate(sample.name)}
        />
      ))}
      {start.error && <Failure title={t('home.sampleRefused')} error={start.error} />}
    </>
  );
}

interface StartProps {
  sample: Sample;
  first: boolean;
  busy: boolean;
  starts: boolean;
  onStart: () => void;
}

function Start({ sample, first, busy, starts, onStart }: StartProps) {
  const { t } = useTranslation();
  const { name, description, lacks } = sample;
  return (
    <>
      <Text size="sm" c="dimmed">
        {known(name) ? t(texts[name]) : description}
      </Text>
      {lacks ? (
        <Text size="sm">{t('home.sampleLacks', { name, lacks })}</Text>
      ) : (
        <Button
          variant={first ? 'filled' : 'default'}
          style={{ alignSelf: 'flex-start' }}
          loading={starts}
          disabled={busy && !starts}
          onClick={onStart}
        >
          {t('home.startSample', { name })}
        </Button>
      )}
    </>
  );
}
