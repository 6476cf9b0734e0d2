/* The picture of a terminal, from what a program really printed. */

const style = `
  :root { color-scheme: light; --ground: #fbfcfe; --bar: #e9eef3; --text: #1b2733; --faint: #5c6b7a; --good: #12733a; --edge: #d5dde5; }
  :root[data-scheme='dark'] { color-scheme: dark; --ground: #0d1720; --bar: #16232f; --text: #dbe5ee; --faint: #8fa1b3; --good: #4fc47f; --edge: #22323f; }
  body { margin: 0; }
  main { box-sizing: border-box; height: 100vh; display: flex; flex-direction: column; background: var(--ground); color: var(--text); }
  header { flex: none; padding: 9px 16px; background: var(--bar); border-bottom: 1px solid var(--edge); color: var(--faint); font: 600 13px system-ui, sans-serif; }
  pre { flex: auto; margin: 0; padding: 12px 16px 16px; overflow: hidden; display: flex; flex-direction: column; justify-content: flex-end; font: 13.5px/1.42 'DejaVu Sans Mono', monospace; }
  b { color: var(--good); font-weight: 700; }
`;

const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

/** The last lines that fit, below the command, as a page of HTML. */
export function terminal(command, lines, scheme) {
  const text = escaped(lines.join('\n')).replace(/✓/g, '<b>✓</b>');
  return `<!doctype html><html lang="en" data-scheme="${scheme}"><meta charset="utf-8"><title>${escaped(command)}</title><style>${style}</style>
<main><header>$ ${escaped(command)}</header><pre><code>${text}</code></pre></main></html>`;
}
