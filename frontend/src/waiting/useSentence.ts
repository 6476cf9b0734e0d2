import { useTranslation } from 'react-i18next';

type Say = (sentence: string | undefined) => string;

const english: Say = (sentence = '') => sentence;
let chinese: Say = english;

/** Loads what says the sentences in Chinese; for when that language is chosen. */
export async function loadChinese() {
  const { inChinese } = await import('./chinese');
  chinese = (sentence = '') => inChinese(sentence);
}

/** Says in the reader's language what a step waits for, or why it never fits. */
export function useSentence(): Say {
  const { i18n } = useTranslation();
  return i18n.language.startsWith('zh') ? chinese : english;
}
