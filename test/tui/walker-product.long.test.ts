import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { useLabs } from '../bench-kit/lab-bench.ts';
import { hasTerminal, KEYS, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { openProgram } from '../bench-kit/terminal.ts';
import { type Random, randomFrom } from './random.ts';

const SEED = 4;
/** Where a leg of the walk begins: what is typed into the palette, and the header of what it opens. */
const LEGS = [
  { wanted: 'all instances', opened: /all instances/u },
  { wanted: 'every entry', opened: /journal/u },
  { wanted: 'which keys are held', opened: /keys/u },
  { wanted: 'open and closed runs', opened: /runs/u },
  { wanted: 'instance orders its backups', opened: /orders/u },
  { wanted: 'start on orders', opened: /start/u },
  { wanted: 'resume rotate-key', opened: /rotate the encryption key/u },
] as const;
const PRESSES_EACH = 45;
/** No person types faster, and Escape is told apart from the key that follows it. */
const EVERY_MS = 60;

const NAMED: Readonly<Record<string, string>> = {
  Enter: KEYS.enter,
  Esc: KEYS.escape,
  up: KEYS.up,
  down: KEYS.down,
  Tab: '\t',
  Space: ' ',
  'Ctrl-k': '\u000b',
};

/** Without Ctrl-Z: the shell that would bring the app back is not at this terminal. */
const KEYBOARD = [
  ...Array.from('abcdefghijklmnopqrstuvwxyzGJK/?:!.0 '),
  ...Object.values(NAMED),
  ...['\u001b[5~', '\u001b[6~', '\u001b[H', '\u001b[F', '\u007f', '\u0012', '\u0015'],
];

describe.runIf(hasTerminal())('random keys in the real program', { timeout: 2_400_000 }, () => {
  const openLab = useLabs();

  test('about three hundred keys, starting on each screen, break no frame and change nothing but a confirmed backup', async (context) => {
    const bench = await openLab(context, { sampleApp: { rowsPerSecond: 0 } });
    // A run that stands at its first question, to be found and resumed.
    expect((await bench.run('run', 'rotate-key', '--instance', 'orders')).code).toBe(3);
    const random = randomFrom(SEED);
    for (const { wanted, opened } of LEGS) {
      const pressed: string[] = [];
      let terminal = open();
      const why = () => `seed ${SEED}, ${wanted}, after ${JSON.stringify(pressed)}:\n${terminal.text()}`;
      await comesUp(terminal, why);
      await openByPalette(terminal, wanted, opened, why);
      for (let at = 0; at < PRESSES_EACH; at += 1) {
        if (at % 10 === 0) await comesUp(terminal, why);
        if (terminal.text().includes('$ after')) {
          // Left by a key that says so: nothing broke, and the person comes back.
          expect(terminal.text(), why()).toMatch(/rc=(?:0|130)\b/u);
          terminal = open();
          await comesUp(terminal, why);
        }
        if (isAsked(terminal)) await comesUp(terminal, why);
        const key = random.inPercent(70) ? shownKey(terminal, random) : random.one(KEYBOARD);
        pressed.push(key);
        terminal.type(key);
        await pause(EVERY_MS);
      }
      await comesUp(terminal, why);
      await terminal.close();
    }
    function open(): Terminal {
      // The shell that `!` opens is over at once.
      const words = ['env', 'SHELL=/bin/true', process.execPath, bench.product.cli];
      const program = openProgram(words, bench.product, bench);
      context.onTestFinished(() => program.close());
      return program;
    }
    const armed = (await bench.entries()).filter(({ type }) => type === 'intent.armed');
    const said = JSON.stringify(armed.map(({ body }) => body));
    expect(
      bench.did().filter((call) => !call.endsWith(' POST /backups')),
      said,
    ).toEqual([]);
    expect(armed.length, said).toBe(bench.did().length);
  });
});

async function openByPalette(terminal: Terminal, wanted: string, opened: RegExp, why: () => string) {
  const shows = (words: RegExp, row: (rows: string[]) => string) =>
    vi.waitFor(() => expect(row(terminal.rows()), why()).toMatch(words), { timeout: 200_000 });
  terminal.type(NAMED['Ctrl-k'] ?? '');
  await shows(/find anything/u, ([header = '']) => header);
  terminal.type(wanted);
  // Enter in one piece with the words would be a paste; and what fits is known a little later.
  await shows(new RegExp(wanted, 'u'), (rows) =>
    rows.join().includes('nothing fits') ? '' : (rows[1] ?? ''),
  );
  terminal.type(KEYS.enter);
  await shows(opened, ([header = '']) => header);
}

/**
 * A key that is asked for on the ordinary terminal is not given: Ctrl-C leads back to the screen, once for
 * each time that it is asked for. Keys typed before the prompt may ask for it again.
 */
async function comesUp(terminal: Terminal, why: () => string): Promise<void> {
  let left = 0;
  const look = () => {
    const asked = terminal.text().match(PROMPTS)?.length ?? 0;
    if (isAsked(terminal) && asked > left) {
      left = asked;
      terminal.type('\u0003');
    }
    expect(isWhole(terminal), why()).toBe(true);
  };
  await vi.waitFor(look, { timeout: 200_000 });
}

const PROMPTS = /(?:key of orders|once more)/gu;

function isAsked(terminal: Terminal): boolean {
  const lines = terminal.text().trimEnd().split('\n');
  return !terminal.isTaken() && (lines.at(-1) ?? '').search(PROMPTS) >= 0;
}

/** The badge above, the way out below, or the ordinary screen again. */
function isWhole(terminal: Terminal): boolean {
  const rows = terminal.rows();
  if (!terminal.isTaken()) return terminal.text().includes('$ after');
  return / (?:LIVE|REHEARSAL) /u.test(rows[0] ?? '') && /\p{Letter}/u.test(rows.at(-1) ?? '');
}

/** One of the keys that the lowest row names. */
function shownKey(terminal: Terminal, random: Random): string {
  const words = (terminal.rows().at(-1) ?? '').split(/[\s/]+/u);
  const keys = words.flatMap((word) => NAMED[word] ?? (/^[\p{Letter}\d?:!]$/u.test(word) ? [word] : []));
  return keys.length === 0 ? KEYS.enter : random.one(keys);
}
