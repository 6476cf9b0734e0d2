// Runs before the first paint so that neither the colour scheme nor the language flashes.
(() => {
  const root = document.documentElement;
  let scheme = 'auto';
  let language = null;
  try {
    scheme = localStorage.getItem('argosy-color-scheme') || 'auto';
    language = localStorage.getItem('argosy-language');
  } catch {
    // Storage may be refused; the system's own settings then apply.
  }
  const dark = scheme === 'dark' || (scheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light');
  root.lang = (language || navigator.language || 'en').toLowerCase().startsWith('zh') ? 'zh-CN' : 'en';
})();
