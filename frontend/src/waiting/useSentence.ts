import { useTranslation } from 'react-i18next';
import { inChinese } from './chinese';

type Say = (sentence: string | undefined) => string;

const chinese: Say = (sentence = '') => inChinese(sentence);
const english: Say = (sentence = '') => sentence;

/** Says in the reader's language what a step waits for, or why it never fits. */
export function useSentence(): Say {
  const { i18n } = useTranslation();
  return i18n.language.startsWith('zh') ? chinese : english;
}
