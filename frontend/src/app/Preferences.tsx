import { SegmentedControl, Stack, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { chooseLanguage, type Language } from '../i18n';
import classes from './Shell.module.css';

const look = {
  fullWidth: true,
  withItemsBorders: false,
  size: 'xs',
  classNames: { root: classes.choice, indicator: classes.choiceIndicator, label: classes.choiceLabel },
} as const;

/** Theme and language, for the foot of the navigation. */
export function Preferences() {
  return (
    <Stack gap="xs" p="sm" className={classes.preferences}>
      <ThemeChoice look={look} />
      <LanguageChoice look={look} />
    </Stack>
  );
}

type Look = Partial<typeof look>;

/** Light, dark, or as the system has it; remembered by the browser. */
export function ThemeChoice({ look }: { look?: Look }) {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      {...look}
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
export function LanguageChoice({ look }: { look?: Look }) {
  const { t, i18n } = useTranslation();
  return (
    <SegmentedControl
      {...look}
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
