import { Burger, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconCalendarRepeat,
  IconChartLine,
  IconFlask2,
  IconHome,
  IconPlayerPlay,
  IconServer2,
  IconSettings,
  IconSitemap,
} from '@tabler/icons-react';
import { createLink, Outlet, useLocation } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, type ReactNode, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Keys } from '../palette/Keys';
import { Announcer } from './announce';
import { Preferences } from './Preferences';
import classes from './Shell.module.css';

type NavProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'color' | 'onChange'> & {
  label: string;
  leftSection: ReactNode;
};

const NavItem = createLink(({ label, leftSection, ...rest }: NavProps) => (
  <a {...rest} className={classes.item}>
    {leftSection}
    {label}
  </a>
));

/** The frame around every page: navigation, preferences, and the place where announcements are spoken. */
export function Shell() {
  const { t } = useTranslation();
  const [open, { toggle, close }] = useDisclosure();
  const path = useLocation({ select: (location) => location.pathname });

  // On a phone the navigation covers the page: having chosen, one wants to see the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what triggers it
  useEffect(close, [path]);

  const items = [
    { to: '/', label: t('pages.home'), icon: <IconHome size={18} aria-hidden /> },
    { to: '/pipelines', label: t('pages.pipelines'), icon: <IconSitemap size={18} aria-hidden /> },
    { to: '/experiments', label: t('pages.experiments'), icon: <IconFlask2 size={18} aria-hidden /> },
    { to: '/runs', label: t('pages.runs'), icon: <IconPlayerPlay size={18} aria-hidden /> },
    { to: '/schedules', label: t('pages.schedules'), icon: <IconCalendarRepeat size={18} aria-hidden /> },
    { to: '/scaling', label: t('pages.scaling'), icon: <IconChartLine size={18} aria-hidden /> },
    { to: '/cluster', label: t('pages.cluster'), icon: <IconServer2 size={18} aria-hidden /> },
    { to: '/settings', label: t('pages.settings'), icon: <IconSettings size={18} aria-hidden /> },
  ] as const;

  return (
    <>
      <a href="#content" className={classes.skip}>
        {t('app.skip')}
      </a>
      <header className={classes.header}>
        <Group h="100%" px="md" gap="sm">
          <Burger
            opened={open}
            onClick={toggle}
            size="sm"
            color="var(--ar-nav-strong)"
            aria-label={open ? t('app.closeNavigation') : t('app.openNavigation')}
          />
          <Brand />
        </Group>
      </header>
      <nav className={classes.navbar} data-open={open || undefined} aria-label={t('app.navigation')}>
        <Group px="md" pt="lg" pb="xl" justify="space-between" wrap="nowrap">
          <Brand />
          <Burger
            hiddenFrom="sm"
            opened={open}
            onClick={toggle}
            size="sm"
            color="var(--ar-nav-strong)"
            aria-label={t('app.closeNavigation')}
          />
        </Group>
        <Stack gap={4} px="xs" className={classes.items}>
          {items.map(({ to, label, icon }) => (
            <NavItem
              key={to}
              to={to}
              label={label}
              leftSection={icon}
              activeOptions={{ exact: to === '/' }}
              activeProps={{ 'aria-current': 'page' }}
            />
          ))}
        </Stack>
        <Preferences />
      </nav>
      <main id="content" tabIndex={-1} className={classes.main}>
        <Outlet />
      </main>
      <Announcer />
      <Keys />
    </>
  );
}

function Brand() {
  const { t } = useTranslation();
  return (
    <Group gap="xs" wrap="nowrap">
      <img src="/argosy.svg" alt="" width={28} height={28} />
      <Text className={classes.brand}>{t('app.name')}</Text>
    </Group>
  );
}
