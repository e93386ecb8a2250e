import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runShell } from '../../src/base/run-shell.ts';
import { send } from '../../src/notify/send.ts';
import { soon } from '../bench-kit/soon.ts';

const never = new AbortController().signal;
const how = { env: process.env, timeoutMs: 600_000, signal: never };

/** A command that ends with 0 and leaves a process behind, in its own session, that holds its output. */
function leaving(): { readonly command: string; readonly shell: () => number; readonly left: () => number } {
  const folder = mkdtempSync(join(tmpdir(), 'run-shell-'));
  const numberIn = (name: string) => Number(readFileSync(join(folder, name), 'utf8'));
  const left = () => numberIn('left');
  onTestFinished(() => {
    process.kill(left(), 'SIGKILL');
    rmSync(folder, { recursive: true });
  });
  const child = `echo $$ > ${folder}/left; exec sleep 300`;
  const command = `setsid sh -c '${child}' & while [ ! -s ${folder}/left ]; do :; done; echo $$ > ${folder}/shell`;
  return { command, shell: () => numberIn('shell'), left };
}

test('a command is over when it ends, and its output is complete, even if another process holds it open', async () => {
  const { command, left } = leaving();
  const text = `head -c 65536 /dev/zero | tr '\\0' a; ${command}`;
  expect(await runShell(text, how)).toEqual({ exit: 0, stdout: 'a'.repeat(65_536), stderr: '' });
  expect(process.kill(left(), 0)).toBe(true);
});

test('a command that has ended is not reported as stopped by a later signal', async () => {
  const { command, shell } = leaving();
  const stop = new AbortController();
  const ended = runShell(command, { ...how, signal: stop.signal });
  // A process counts as gone only once its end was seen here.
  await soon(() => expect(() => process.kill(shell(), 0)).toThrow('ESRCH'));
  stop.abort();
  expect(await ended).toMatchObject({ exit: 0 });
});

test('a notification is delivered when its command ends with 0, whatever that command leaves running', async () => {
  const { command } = leaving();
  const target = { name: 'ticket', command, hideEnv: [] };
  expect(await send(target, '{}', never)).toEqual({ outcome: 'delivered', said: '' });
});

test('a command that is stopped by a signal rejects with the reason of the signal', async () => {
  const stop = new AbortController();
  const ended = runShell('exec sleep 300', { ...how, signal: stop.signal });
  stop.abort(new Error('left'));
  await expect(ended).rejects.toThrow('left');
});
