import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { loadChinese } from '../waiting/useSentence';
import { shell } from './en/shell';
import type { English } from './texts';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: English };
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

// The English of the list of runs is built in; what else there is, is loaded when it is asked for.
const loaders: Record<Language, () => Promise<object>> = {
  en: async () => (await import('./en')).later,
  'zh-CN': async () => {
    const [{ zhCN }] = await Promise.all([import('./zh-CN'), loadChinese()]);
    return zhCN;
  },
};

const loaded = new Set<Language>();

async function load(language: Language) {
  if (loaded.has(language)) return;
  i18next.addResourceBundle(language, 'translation', await loaders[language](), true);
  loaded.add(language);
}

/** Loads code that says more than the list of runs, together with the texts for it. */
export const withTexts =
  <M>(code: () => Promise<M>) =>
  async (): Promise<M> => {
    const [module] = await Promise.all([code(), load(i18next.language as Language)]);
    return module;
  };

/** Makes the texts ready in a language, before the first render. */
export async function startI18n(language: Language) {
  await i18next.use(initReactI18next).init({
    resources: { en: { translation: shell } },
    lng: 'en',
    fallbackLng: 'en',
    supportedLngs: Object.keys(languages),
    // React escapes by itself.
    interpolation: { escapeValue: false },
  });
  if (language !== 'en') await show(language);
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
