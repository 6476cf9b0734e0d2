import { Code, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { healthQuery } from '../api/settings';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { LanguageChoice, ThemeChoice } from '../app/Preferences';
import { Failure } from '../feedback/Failure';
import { ClusterVersions } from './ClusterVersions';
import { Retention } from './Retention';
import classes from './Settings.module.css';
import { TimeZoneChoice } from './TimeZoneChoice';

/** How the interface looks, what serves it, and what the server keeps. */
export function SettingsPage() {
  const { t } = useTranslation();
  const health = useQuery(healthQuery);
  return (
    <Page title={t('pages.settings')}>
      <div className={classes.columns}>
        <Section title={t('settings.look')}>
          <dl className={classes.facts}>
            <dt>{t('app.language')}</dt>
            <dd>
              <LanguageChoice />
            </dd>
            <dt>{t('app.theme')}</dt>
            <dd>
              <ThemeChoice />
            </dd>
            <dt>{t('settings.timeZone')}</dt>
            <dd>
              <TimeZoneChoice />
            </dd>
          </dl>
          <Text size="sm" mt="sm">
            <TextLink to="/components">{t('settings.components')}</TextLink>
          </Text>
        </Section>
        <Section title={t('settings.server')}>
          {health.error && (
            <Failure
              title={t('failure.title', { what: t('settings.awaitVersion') })}
              error={health.error}
              onRetry={() => void health.refetch()}
            />
          )}
          <dl className={classes.facts}>
            <dt>{t('settings.address')}</dt>
            <dd>
              <Code>{globalThis.location?.origin}</Code>
            </dd>
            <dt>{t('settings.version')}</dt>
            <dd>{health.data?.tag_name || t('field.none')}</dd>
            <dt>{t('settings.commit')}</dt>
            <dd className="mono break">{health.data?.commit_sha || t('field.none')}</dd>
            <dt>API</dt>
            <dd>
              <a href="/apis/docs">{t('settings.docs')}</a> · <a href="/apis/openapi.yaml">openapi.yaml</a>
            </dd>
          </dl>
        </Section>
        <Section title={t('settings.cluster')}>
          <ClusterVersions />
        </Section>
      </div>
      <Section title={t('settings.retention')}>
        <Retention />
      </Section>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </section>
  );
}
