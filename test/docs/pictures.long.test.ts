import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { useLabs } from '../bench-kit/lab-bench.ts';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

/*
 * The pictures of README and docs show what the program draws: each is taken from the built product, in a
 * drill or in the app over a lab. `npm run pictures` takes them again; without it, each must say what the
 * screen says now, except for times, ids and sizes.
 */
const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures');
const isTakingAnew = process.env['PICTURES'] === 'renew';

/** What a person presses, and what the screen shows then; pressed before that, a key would go elsewhere. */
type Step = readonly [keys: string, sees: RegExp];

/** One sitting at the app over a lab with a run that stands at its first question: a picture at each stop. */
const PICTURES: readonly { readonly file: string; readonly way: readonly Step[] }[] = [
  {
    file: 'board.svg',
    way: [['', /lifeboat {2}all instances[\s\S]*answers at most[\s\S]*rotate-key[\s\S]*orders-dr/u]],
  },
  { file: 'start.svg', way: [['s', / start ─/u]] },
  {
    file: 'question.svg',
    way: [
      [KEYS.escape, /all instances/u],
      ['r', / runs ─[\s\S]*rotate-key/u],
      [KEYS.enter, /prove the newest first\?/u],
    ],
  },
  {
    file: 'finished.svg',
    way: [
      [KEYS.enter, /where does the new key come from\?/u],
      [KEYS.enter, /type the instance's name/u],
      ['orders', /❯ orders/u],
      [KEYS.enter, /✓ PROVEN[\s\S]*the key is rotated and proven/u],
    ],
  },
  {
    file: 'journal.svg',
    way: [
      [KEYS.enter, / runs ─/u],
      [KEYS.escape, /all instances/u],
      ['J', / journal ─/u],
    ],
  },
];

describe.runIf(hasTerminal())('pictures of the documents', { timeout: 2_400_000 }, () => {
  const product = builtProduct({ cheapVault: true });
  const openLab = useLabs();

  test('drill.svg shows the confirmation of a recovery as it is drawn today', async (context) => {
    const terminal = openTerminal(product, openMachine(product, context), ['drill', 'disaster-recovery']);
    context.onTestFinished(() => terminal.close());
    await standsAt(terminal, /to confirm, type orders-dr/u, () => {
      if (/── Enter \w|press Enter when/u.test(terminal.text())) terminal.type(KEYS.enter);
    });
    expectPicture('drill.svg', terminal);
  });

  test('each picture of the app shows its screen as it is drawn today', async (context) => {
    const bench = await openLab(context, { sampleApp: { rowsPerSecond: 0 } });
    expect((await bench.run('run', 'rotate-key', '--instance', 'orders')).code).toBe(3);
    const terminal = openTerminal(product, bench, []);
    context.onTestFinished(() => terminal.close());
    for (const { file, way } of PICTURES) {
      for (const [keys, sees] of way) {
        terminal.type(keys);
        await standsAt(terminal, sees);
      }
      expectPicture(file, terminal);
    }
  });
});

/** As long as the folder of a test, which has another name each time. */
const HOME = '/var/lib/lifeboat/homes/the-drill';

/** Takes the picture again, or compares the existing one with the screen. */
function expectPicture(file: string, terminal: Terminal): void {
  const path = join(FOLDER, file);
  const picture = terminal.picture().replaceAll(/\/[\w/]*\/lifeboat-e2e-\w+\/home\b/gu, HOME);
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : '';
  // One that differs in times and ids alone is left, so that a change of the pictures is one to look at.
  const isAnew = isTakingAnew && drawnIn(kept) !== drawnIn(picture);
  if (isAnew) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(path, picture);
  }
  const known = isAnew ? picture : kept;
  expect.soft(wordsIn(known), `${file}: npm run pictures takes it anew`).toEqual(wordsIn(picture));
}

/** Waits until the screen shows what is wanted and stands still; where it stands still before, `goesOn`. */
async function standsAt(terminal: Terminal, wanted: RegExp, goesOn = () => {}): Promise<void> {
  let before = '';
  let since = performance.now();
  for (const end = since + 200_000; performance.now() < end; await pause(50)) {
    const now = terminal.text().replaceAll(/\d+/gu, '');
    if (now !== before) {
      before = now;
      since = performance.now();
    }
    if (performance.now() - since < 800) continue;
    if (wanted.test(now)) return;
    goesOn();
    since = performance.now();
  }
  throw new Error(`the screen never showed ${wanted}:\n${terminal.text()}`);
}

/** What does not differ from drill to drill: the size, the words, and which colours there are. */
function drawnIn(svg: string): string {
  const styles = [...svg.matchAll(/\b(?:fill|class|font-weight|opacity)="([^"]*)"/gu)].map(
    ([, style]) => style,
  );
  const [size] = svg.split('\n');
  return JSON.stringify([size, wordsIn(svg), [...new Set(styles)].toSorted()]);
}

/** The rows of a picture in words: digits, ids and what is drawn between words differ from drill to drill. */
function wordsIn(svg: string): string[] {
  const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/gu)].map(([, text = '']) => text);
  return (
    texts
      .join(' ')
      .replaceAll(/\b01[0-9A-Z]{8,24}(?:…|\b)/gu, 'ID')
      // One that is cut may have no digit left.
      .replaceAll(/(?<![\p{Letter}\d-])[\da-f-]+…/gu, ' ')
      // The parts of an anchor, which may be letters alone.
      .replaceAll(/:[\da-f]+(?![\p{Letter}\d])/gu, ' ')
      // Guids and fingerprints: hexadecimal digits, at least one of them no letter.
      .replaceAll(/(?<![\p{Letter}\d-])(?=[a-f-]*\d)[\da-f-]+(?![\p{Letter}\d])/gu, ' ')
      .split(/[^\p{Letter}'-]+/u)
      .filter((word) => word.length > 2)
  );
}
