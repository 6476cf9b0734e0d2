import { Stack, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Segments } from '../feedback/Segments';
import { chooseLanguage, type Language } from '../i18n';
import classes from './Shell.module.css';

/** Theme and language, for the foot of the navigation. */
export function Preferences() {
  return (
    <Stack gap="xs" p="sm" className={classes.preferences}>
      <ThemeChoice on="dark" />
      <LanguageChoice on="dark" />
    </Stack>
  );
}

/** Light, dark, or as the system has it; remembered by the browser. */
export function ThemeChoice({ on }: { on?: 'dark' }) {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Segments
      on={on}
      aria-label={t('app.theme')}
      value={colorScheme}
      onChange={setColorScheme}
      data={[
        { value: 'light', label: icon(<IconSun size={16} aria-hidden />, t('app.themeLight')) },
        { value: 'dark', label: icon(<IconMoon size={16} aria-hidden />, t('app.themeDark')) },
        { value: 'auto', label: icon(<IconDeviceDesktop size={16} aria-hidden />, t('app.themeAuto')) },
      ]}
    />
  );
}

/** The language, remembered by the browser. Chinese is named in Latin letters too, for machines without its letters. */
export function LanguageChoice({ on }: { on?: 'dark' }) {
  const { t, i18n } = useTranslation();
  return (
    <Segments
      on={on}
      aria-label={t('app.language')}
      value={i18n.language as Language}
      onChange={(language) => void chooseLanguage(language)}
      data={[
        { value: 'en', label: 'English' },
        {
          value: 'zh-CN',
          label: (
            <>
              <span lang="zh-CN">中文</span> Chinese
            </>
          ),
        },
      ]}
    />
  );
}

function icon(shape: ReactNode, name: string) {
  return (
    <span title={name} style={{ display: 'flex', justifyContent: 'center' }}>
      {shape}
      <VisuallyHidden>{name}</VisuallyHidden>
    </span>
  );
}
