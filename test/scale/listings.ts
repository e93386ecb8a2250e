import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { treeOf } from '../bench-kit/process-tree.ts';
import { until } from '../bench-kit/until.ts';
import type { Stage } from './stage.ts';
import { type Used, usedBy } from './used-by.ts';

/** What a person calls after a plan; `audit verify` reads the whole record. */
const commandsOf = (folder: string): readonly (readonly string[])[] => [
  ['runs'],
  ['runs', '--json'],
  ['plans', 'show', 'last'],
  ['plans', 'show', 'last', '--json'],
  ['status'],
  ['status', '--json'],
  ['plans', 'evaluate', '--json'],
  ['report', 'last', '--out', join(folder, 'report')],
  ['audit', 'verify'],
];

/** Each with words that its screen has when the instances or runs are on it. */
const SCREENS: readonly (readonly [words: readonly string[], shown: RegExp])[] = [
  [[], /sim-0000/u],
  [['watch', 'last'], /sim-0000/u],
];

/** How long a screen stays: in that time the board asks every instance. */
const ON_SCREEN_MS = 60_000;

/** What each command that lists, and each screen, takes: memory at most in MiB, and seconds of processor. */
export async function listings(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const figures: Record<string, number> = {};
  const keep = (name: string, { peakMiB, seconds }: Used) => {
    figures[`${name}: MiB`] = Math.round(peakMiB);
    figures[`${name}: processor seconds`] = seconds;
  };
  for (const words of commandsOf(stage.folder)) {
    const child = stage.spawnCommand(...words);
    const ended = once(child, 'close');
    keep(words.slice(0, words.includes('--out') ? 2 : undefined).join(' '), await watched(child.pid, ended));
  }
  for (const [words, shown] of SCREENS) {
    const screen = stage.openScreen(...words);
    await until(() => shown.test(screen.text()));
    const [, pid] = treeOf(screen.pid ?? 0);
    keep(['screen', ...words].join(' '), await watched(pid, delay(ON_SCREEN_MS)));
    await screen.close();
  }
  return figures;
}

/** Looks at a process until then. */
async function watched(pid: number | undefined, done: Promise<unknown>): Promise<Used> {
  let last: Used = { seconds: 0, peakMiB: 0, residentMiB: 0 };
  const looking = setInterval(() => {
    try {
      const now = usedBy(pid);
      // One that ends has no memory any more.
      if (now.peakMiB >= last.peakMiB) last = now;
    } catch {
      // It has ended.
    }
  }, 20);
  await done;
  clearInterval(looking);
  return last;
}
