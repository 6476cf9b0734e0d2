/* What measuring and taking pictures share: a real server, Debian's Chromium, and runs. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { chromium } from '@playwright/test';

/** Starts `argosy up` on a data folder and waits until it serves. `lines` grows with what it tells its user. */
export async function serve(bin, home, ...more) {
  const args = ['up', '--home', home, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', ...more];
  const child = spawn(`${bin}/argosy`, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    process.stderr.write(`${line}\n`);
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length).trim());
    });
    child.once('exit', (code) => reject(new Error(`argosy up ended with ${code} before it served`)));
    child.once('error', reject);
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { url, lines, stop };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  });

/** A page as a reader has it who chose a theme and a language before. */
export async function openPage(browser, url, { scheme = 'light', language = 'en' } = {}) {
  const viewport = { width: 1440, height: 900 };
  const context = await browser.newContext({ baseURL: url, viewport, locale: 'en-GB', timezoneId: 'UTC' });
  await context.addInitScript(
    ([chosenScheme, chosenLanguage]) => {
      localStorage.setItem('argosy-color-scheme', chosenScheme);
      localStorage.setItem('argosy-language', chosenLanguage);
    },
    [scheme, language],
  );
  return context.newPage();
}

export async function ask(url, path, body) {
  const options = body && {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  };
  const answer = await fetch(url + path, options);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Starts a run of a Workflow of these templates, of which the first begins, and gives its id. */
export async function startRun(url, name, templates) {
  const manifest = JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: `${templates[0].name}-` },
    spec: { entrypoint: templates[0].name, templates },
  });
  return (await ask(url, '/apis/argosy/v1/runs', { name, manifest })).run.id;
}

const patience = 20 * 60_000;

/** Waits until something holds of a run, and gives the run. */
export async function until(url, id, holds) {
  for (const begun = Date.now(); Date.now() - begun < patience; ) {
    const run = await ask(url, `/apis/argosy/v1/runs/${id}?nodes=all`);
    if (holds(run)) return run;
    if (['Failed', 'Error', 'Terminated'].includes(run.status)) throw new Error(`run ${run.name} failed: ${run.error}`);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error(`run ${id} takes longer than ${patience / 60_000} minutes`);
}

export const succeeded = (run) => run.status === 'Succeeded';
