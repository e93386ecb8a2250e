import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExpectStatic } from 'vitest';
import type { Call, Trouble } from './foreign/call.ts';
import type { House, HouseOptions } from './house.ts';
import type { Ended } from './product.ts';

export const ORDERS = ['--instance', 'orders'] as const;
export const SURE = [...ORDERS, '--confirm', 'orders'] as const;

const isDestroying = ({ method, path }: Pick<Call, 'method' | 'path'>) =>
  method !== 'GET' && /\/(?:restore|recreate)$/u.test(path);

/** What destroys is done at once, and its answer does not come before its process is dead. */
export const UNANSWERED: HouseOptions = {
  settle: '2s',
  trouble: (call): Trouble | undefined => (isDestroying(call) ? { answerAfterMs: 20_000 } : undefined),
};

export const sent = ({ server }: House) => server.calls.filter(isDestroying).length;

export async function newest(house: House): Promise<string> {
  const { stdout } = await house.run('backups', 'list', ...ORDERS, '--json');
  return String(JSON.parse(stdout)[0].id);
}

/** A home in which something was done before, all of it in the database itself. */
export async function lived(house: House): Promise<void> {
  const { code, stderr } = await house.run('backups', 'create', ...ORDERS, '--yes', '--wait');
  if (code !== 0) throw new Error(stderr);
}

/** Runs a command until the service has what it sends, and kills it while it waits for the answer. */
export async function killedAtAnswer(house: House, ...args: readonly string[]): Promise<void> {
  const before = sent(house);
  const running = house.start(...args);
  let isOver = false;
  void running.ended.then(() => {
    isOver = true;
  });
  while (sent(house) === before) {
    if (isOver) throw new Error(running.stderr());
    await pause(20);
  }
  running.child.kill('SIGKILL');
  await running.ended;
}

export const database = ({ home }: Pick<House, 'home'>) => join(home, 'lifeboat.db');

export function loseLog(house: House): void {
  for (const name of ['-wal', '-shm']) rmSync(`${database(house)}${name}`, { force: true });
}

export function refused(expect: ExpectStatic, { code, stderr }: Ended, says: RegExp): void {
  expect(code, stderr).toBe(5);
  expect(stderr).toMatch(says);
  expect(stderr).toContain('lifeboat audit accept-loss --reason TEXT');
  expect(stderr).toContain('hint: nothing was sent');
}

/**
 * The loss is accepted as the log of the house asks for it. On a team's store the lease of a process that was
 * killed runs out first.
 */
export async function accept(house: House, reason: string, origin = originIn(house)): Promise<Ended> {
  const ended = await house.run('audit', 'accept-loss', '--reason', reason, '--confirm', origin);
  const isHeld = ended.code === 3 && / is held by /u.test(ended.stderr);
  return isHeld ? accept(house, reason, origin) : ended;
}

export const originIn = ({ home }: Pick<House, 'home'>) =>
  readdirSync(join(home, 'checkpoints')).find((name) => /^[0-9a-f]{16}$/u.test(name)) ?? 'none';

/** A house whose restore was killed while its answer was awaited; `before` looks at it before the call. */
export async function killedRestore(house: House, before?: () => Promise<void>) {
  await lived(house);
  await before?.();
  const restore = ['backups', 'restore', await newest(house), ...SURE];
  await killedAtAnswer(house, ...restore);
  return { house, restore };
}

export const ROLLED_BACK =
  /^lifeboat: the journal was rolled back: it ends at entry \d+, and \d+ were signed in /mu;
