import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en, type Translation } from './en';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

export const languages = { en: 'English', 'zh-CN': '简体中文' } as const;

export type Language = keyof typeof languages;

const storageKey = 'argosy-language';

/** The reader's choice, else what the browser asks for, else English. */
export function preferredLanguage(): Language {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(storageKey);
  } catch {
    // Storage may be refused; the browser's language then decides.
  }
  return (chosen ?? navigator.language ?? 'en').toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
}

// English is built in, so that there is always something to fall back on; others are loaded when they are asked for.
const loaders: Record<Exclude<Language, 'en'>, () => Promise<Translation>> = {
  'zh-CN': async () => (await import('./zh-CN')).zhCN,
};

async function load(language: Language) {
  if (language !== 'en' && !i18next.hasResourceBundle(language, 'translation')) {
    i18next.addResourceBundle(language, 'translation', await loaders[language]());
  }
}

/** Makes the texts ready in a language, before the first render. */
export async function startI18n(language: Language) {
  await i18next.use(initReactI18next).init({
    resources: { en: { translation: en } },
    lng: 'en',
    fallbackLng: 'en',
    supportedLngs: Object.keys(languages),
    // React escapes by itself.
    interpolation: { escapeValue: false },
  });
  await show(language);
}

async function show(language: Language) {
  await load(language);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

/** Switches the language and remembers the choice. */
export async function chooseLanguage(language: Language) {
  await show(language);
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
