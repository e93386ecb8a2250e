import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { until } from './until.ts';

/** People who look at a page, in a process of their own (lookers.ts). */
export interface Crowd {
  /** Resolves once each has heard of news. */
  readonly there: Promise<unknown>;
  /** Ends them; gives how many pages came, and how many did not. */
  end(): Promise<{ readonly pages: number; readonly lost: number }>;
}

/** `under`: words before the program, for a host of its own. */
export function lookOn(url: string, path: string, count: number, under: readonly string[] = []): Crowd {
  const script = join(import.meta.dirname, 'lookers.ts');
  const [program = '', ...words] = [...under, process.execPath, script, url, path, String(count)];
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += String(chunk);
  });
  return {
    there: until(() => said.includes('there')),
    async end() {
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
      return JSON.parse(said.trim().split('\n').at(-1) ?? '{}');
    },
  };
}
