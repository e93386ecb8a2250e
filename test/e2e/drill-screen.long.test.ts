import { setTimeout as pause } from 'node:timers/promises';
import { describe, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

/** How long a chapter may stand still before no person is believed to be at the keys. */
const STILL_MS = 60_000;
/** What stands there when a key is to be pressed. */
const ASKS = /── Enter \w|press Enter when the team is ready/u;
/** More than any drill takes. */
const MAX_KEYS = 60;

describe.runIf(hasTerminal())('a whole drill on the screen', { timeout: 3_000_000 }, () => {
  const product = builtProduct({ cheapVault: true });

  test('in every chapter questions can be answered, text typed and the run closed; the last chapter ends the drill', async (context) => {
    const { expect } = context;
    const terminal = openTerminal(product, openMachine(product, context), ['drill']);
    context.onTestFinished(() => terminal.close());
    const met = await playThrough(terminal);
    expect(met, terminal.text()).toEqual(['chapter 1', 'chapter 2', 'chapter 3', 'after']);
    for (const place of [
      'DRILL 1/3',
      'DRILL 2/3',
      'DRILL 3/3',
      'go on with the drill',
      'Nothing of yours is touched',
    ])
      expect(terminal.bytes()).toContain(place);
    expect(terminal.text()).toContain('rc=0');
    expect(terminal.isTaken()).toBe(false);
  });

  test('Ctrl-C at the end of its first run leaves the drill, and no other run begins', async (context) => {
    const { expect } = context;
    const terminal = openTerminal(product, openMachine(product, context), ['drill']);
    context.onTestFinished(() => terminal.close());
    await playThrough(terminal, 'go on with the drill');
    terminal.type(KEYS.ctrlC);
    await expect.poll(terminal.text, { timeout: 60_000 }).toContain('$ after');
    expect(terminal.text()).toContain('rc=130');
    expect(terminal.text()).toContain('the drill was left');
    expect(terminal.bytes()).not.toContain('chapter 2');
    expect(terminal.isTaken()).toBe(false);
  });
});

/**
 * A person who takes what is recommended, types the name or the time that is wanted, and goes on when a
 * chapter waits; until the drill is over, or `stop` is on the screen.
 */
async function playThrough(terminal: Terminal, stop?: string): Promise<string[]> {
  const met = new Set<string>();
  let before = '';
  let typed = '';
  let keys = 0;
  let since = performance.now();
  while (performance.now() - since < STILL_MS && keys < MAX_KEYS) {
    await pause(50);
    const now = terminal.text();
    // A clock that goes on by itself is no sign of a key that was read.
    const still = now.replaceAll(/\d+/gu, '');
    if (still !== before) {
      before = still;
      since = performance.now();
    }
    for (const [chapter] of terminal.bytes().matchAll(/chapter \d/gu)) met.add(chapter);
    if (stop !== undefined && now.includes(stop)) return [...met];
    if (now.includes('$ after')) {
      met.add('after');
      return [...met];
    }
    if (performance.now() - since < 400 || !ASKS.test(now)) continue;
    const wanted = typed === '' ? wantedIn(now) : undefined;
    typed = wanted ?? '';
    // By itself: with what follows it would be a paste.
    if (wanted !== undefined) terminal.type(KEYS.clear);
    await pause(100);
    terminal.type(wanted ?? KEYS.enter);
    keys += 1;
    await pause(300);
  }
  return [...met];
}

/** What is wanted in a field: a name, a moment, a proof. */
function wantedIn(text: string): string | undefined {
  if (text.includes('── point in time ──')) {
    const moment = /incident +(\d\S+ \d\S+) UTC/u.exec(text)?.[1];
    if (moment === undefined) throw new Error(`the screen does not say when the incident was:\n${text}`);
    return text.split('\n').some((row) => row.includes('❯') && row.includes(moment)) ? undefined : moment;
  }
  if (text.includes('the proof you type')) return 'the lab removes it';
  return /to confirm, type (\S+) and then Enter/u.exec(text)?.[1];
}
