import { Alert, List, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { asProblem } from '../api/problem';
import { useSentence } from '../waiting/useSentence';
import type { Preflight as Checked } from './usePreflight';

/** Says before the start what the cluster can never hold, or that it has room. */
export function Preflight({ check }: { check: Checked }) {
  const concerns = check.refusal ? [] : (check.result?.concerns ?? []);
  return (
    <Stack gap="xs">
      <Fit check={check} />
      {concerns.length > 0 && <Concerns concerns={concerns} />}
    </Stack>
  );
}

type Concern = NonNullable<NonNullable<Checked['result']>['concerns']>[number];

/** What steps refer to and what is not there: they wait for it, and the run can start. */
function Concerns({ concerns }: { concerns: Concern[] }) {
  const { t } = useTranslation();
  const sentence = useSentence();
  return (
    <Alert
      role="status"
      title={t('preflight.concerns', { count: concerns.length })}
      icon={<IconInfoCircle aria-hidden />}
      styles={{
        root: { background: 'var(--ar-warn-bg)' },
        title: { color: 'var(--ar-warn)' },
        icon: { color: 'var(--ar-warn)' },
      }}
    >
      <List size="sm">
        {concerns.map(({ step, why }) => (
          <List.Item key={`${step} ${why}`} className="break">
            {t('preflight.concern', { step, why: sentence(why) })}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

/** Whether the cluster can hold the run. */
function Fit({ check }: { check: Checked }) {
  const { t } = useTranslation();
  const sentence = useSentence();
  const { result, refusal } = check;
  if (refusal) {
    return (
      <Warned title={t('preflight.refused')}>
        <Text size="sm" className="break">
          {asProblem(refusal).message}
        </Text>
      </Warned>
    );
  }
  const shortages = result?.shortages ?? [];
  if (shortages.length > 0) {
    return (
      <Warned title={t('preflight.never', { count: shortages.length })}>
        <List size="sm">
          {shortages.map(({ step, asks, has, change }) => (
            <List.Item key={`${step} ${asks}`} className="break">
              {t('preflight.short', { step, why: sentence(`asks ${asks}; ${has}: ${change}`) })}
            </List.Item>
          ))}
        </List>
      </Warned>
    );
  }
  return (
    <Text size="sm" c="dimmed" role="status" style={{ display: 'flex', alignItems: 'center', gap: 6, minHeight: 24 }}>
      {check.waits ? (
        t('preflight.checking')
      ) : result?.checked ? (
        <>
          <IconCircleCheck size={18} color="var(--ar-ok)" aria-hidden />
          {t('preflight.fits')}
        </>
      ) : (
        result && t('preflight.unknown')
      )}
    </Text>
  );
}

function Warned({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Alert
      role="alert"
      title={title}
      icon={<IconAlertTriangle aria-hidden />}
      styles={{
        root: { background: 'var(--ar-bad-bg)' },
        title: { color: 'var(--ar-bad)' },
        icon: { color: 'var(--ar-bad)' },
      }}
    >
      {children}
    </Alert>
  );
}
