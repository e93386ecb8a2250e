import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExpectStatic } from 'vitest';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import type { Ended } from '../bench-kit/product.ts';
import { answerIn } from '../bench-kit/results.ts';
import type { BenchOptions, TestBench } from '../bench-kit/test-bench.ts';

export const ORDERS = ['--instance', 'orders'] as const;
export const SURE = [...ORDERS, '--confirm', 'orders'] as const;

const isDestroying = ({ method, path }: Pick<Call, 'method' | 'path'>) =>
  method !== 'GET' && /\/(?:restore|recreate)$/u.test(path);

/** What destroys is done at once, and its answer does not come before its process is dead. */
export const UNANSWERED: BenchOptions = {
  inFlight: '2s',
  trouble: (call): Trouble | undefined => (isDestroying(call) ? { answerAfterMs: 20_000 } : undefined),
};

export const sent = ({ server }: TestBench) => server.calls.filter(isDestroying).length;

export async function newest(bench: TestBench): Promise<string> {
  const { stdout } = await bench.run('backups', 'list', ...ORDERS, '--json');
  return String(answerIn(stdout)[0].id);
}

/** A home in which something was done before, all of it in the database itself. */
export async function lived(bench: TestBench): Promise<void> {
  const { code, stderr } = await bench.run('backups', 'create', ...ORDERS, '--yes', '--wait');
  if (code !== 0) throw new Error(stderr);
}

/** Runs a command until the service has what it sends, and kills it while it waits for the answer. */
export async function killedAtAnswer(bench: TestBench, ...args: readonly string[]): Promise<void> {
  const before = sent(bench);
  const running = bench.start(...args);
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  while (sent(bench) === before) {
    if (isOver) throw new Error(running.stderr());
    await pause(20);
  }
  running.child.kill('SIGKILL');
  await running.ended;
}

export const database = ({ home }: Pick<TestBench, 'home'>) => join(home, 'lifeboat.db');

export function loseLog(bench: TestBench): void {
  for (const name of ['-wal', '-shm']) rmSync(`${database(bench)}${name}`, { force: true });
}

export function refused(expect: ExpectStatic, { code, stderr }: Ended, says: RegExp): void {
  expect(code, stderr).toBe(5);
  expect(stderr).toMatch(says);
  expect(stderr).toContain('lifeboat audit accept-loss --reason TEXT');
  expect(stderr).toContain('hint: nothing was sent');
}

/**
 * Accepts the loss, naming the origin as the command asks. On a team's store it first waits until the lease
 * of a killed process has run out.
 */
export async function accept(bench: TestBench, reason: string, origin = originIn(bench)): Promise<Ended> {
  const ended = await bench.run('audit', 'accept-loss', '--reason', reason, '--confirm', origin);
  const isHeld = ended.code === 3 && / is held by /u.test(ended.stderr);
  return isHeld ? accept(bench, reason, origin) : ended;
}

export const originIn = ({ home }: Pick<TestBench, 'home'>) =>
  readdirSync(join(home, 'checkpoints')).find((name) => /^[0-9a-f]{16}$/u.test(name)) ?? 'none';

/** A bench whose restore was killed while its answer was awaited; `before` looks at it before the call. */
export async function killedRestore(bench: TestBench, before?: () => Promise<void>) {
  await lived(bench);
  await before?.();
  const restore = ['backups', 'restore', await newest(bench), ...SURE];
  await killedAtAnswer(bench, ...restore);
  return { bench, restore };
}

export const ROLLED_BACK =
  /^lifeboat: the journal was rolled back: it ends at entry \d+, and \d+ were signed in /mu;
