import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { clusterQuery } from '../api/cluster';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import classes from './Settings.module.css';

/** The versions of what the cluster has, as far as the server knows them. */
export function ClusterVersions() {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery({ ...clusterQuery, refetchInterval: false });
  const what = t('settings.awaitVersions');
  if (isPending) return <Awaiting what={what} rows={4} />;
  const versions = data?.versions ?? [];
  return (
    <>
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {!error && versions.length === 0 && (
        <Text size="sm" c="dimmed">
          {t('settings.noVersions')}
        </Text>
      )}
      <dl className={classes.facts}>
        {versions.map(({ name, version }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd className="break">{version}</dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}
