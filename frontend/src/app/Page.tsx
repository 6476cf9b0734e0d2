import { Group, Stack, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Page.module.css';

interface PageProps {
  title: string;
  /** Stands before the heading: where the page belongs. */
  trail?: ReactNode;
  /** Stands after the heading, on its line. */
  badge?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

let firstPage = true;

/** A page with its heading; the heading takes the focus after navigation, so that a screen reader begins there. */
export function Page({ title, trail, badge, actions, children }: PageProps) {
  const { t } = useTranslation();
  const heading = useRef<HTMLHeadingElement>(null);
  const appName = t('app.name');

  useEffect(() => {
    document.title = `${title} · ${appName}`;
  }, [title, appName]);

  useEffect(() => {
    if (!firstPage) heading.current?.focus({ preventScroll: true });
    firstPage = false;
  }, []);

  return (
    <div className={classes.page}>
      <Stack gap={2}>
        {trail && (
          <nav className={classes.trail} aria-label={t('action.back')}>
            {trail}
          </nav>
        )}
        <Group justify="space-between" gap="sm" align="flex-start">
          <Group gap="sm" className={classes.heading}>
            <Title order={1} size="h3" ref={heading} tabIndex={-1} className="title">
              {title}
            </Title>
            {badge}
          </Group>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </Stack>
      {children}
    </div>
  );
}
