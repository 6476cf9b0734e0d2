import { useMantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { chooseLanguage, type Language, languages } from '../i18n';
import type { Act } from './acts';

/** Changes to the other themes and the other language. */
export function usePreferenceActs(): Act[] {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = { light: t('app.themeLight'), dark: t('app.themeDark'), auto: t('app.themeAuto') };
  const themes = (Object.keys(schemes) as (keyof typeof schemes)[]).filter((scheme) => scheme !== colorScheme);
  const others = (Object.keys(languages) as Language[]).filter((language) => language !== i18n.language);
  return [
    ...themes.map((scheme) => ({
      key: `theme ${scheme}`,
      label: t('palette.theme', { theme: schemes[scheme] }),
      to: t('app.theme'),
      act: () => setColorScheme(scheme),
    })),
    ...others.map((language) => ({
      key: `language ${language}`,
      label: t('palette.language', { language: names[language] }),
      to: t('app.language'),
      act: () => void chooseLanguage(language),
    })),
  ];
}

// Found by those who read only the other language.
const names: Record<Language, string> = { en: 'English', 'zh-CN': '中文 Chinese' };
