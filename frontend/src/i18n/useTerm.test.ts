import { renderHook } from '@testing-library/react';
import i18next from 'i18next';
import { expect, it } from 'vitest';
import { useTerm } from './useTerm';
import { zhCN } from './zh-CN';

it('says a word of the API in the reader’s language, and one that it does not know as it is', async () => {
  i18next.addResourceBundle('zh-CN', 'translation', zhCN, true);
  const { result } = renderHook(() => useTerm('visualType'));
  expect(result.current('confusion_matrix')).toBe('Confusion matrix');
  expect(result.current('tensorboard')).toBe('tensorboard');
  expect(result.current(undefined)).toBe('');
  await i18next.changeLanguage('zh-CN');
  try {
    expect(renderHook(() => useTerm('visualType')).result.current('confusion_matrix')).toBe('混淆矩阵');
    expect(renderHook(() => useTerm('queueState')).result.current('Closed')).toBe('已关闭');
    expect(renderHook(() => useTerm('stepKind')).result.current('Suspend')).toBe('暂停');
  } finally {
    await i18next.changeLanguage('en');
  }
});
