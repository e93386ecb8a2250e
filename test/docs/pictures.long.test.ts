import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openMachine } from '../bench-kit/machine.ts';
import { builtProduct } from '../bench-kit/product.ts';
import { hasTerminal, KEYS, type Terminal } from '../bench-kit/pseudo-terminal.ts';
import { openTerminal } from '../bench-kit/terminal.ts';

/*
 * The pictures of README and docs show what the program draws: each is taken in a drill of the built product.
 * `npm run pictures` takes them anew; without it, each has to say what the screen says now, but for times,
 * ids and sizes.
 */
const FOLDER = join(import.meta.dirname, '..', '..', 'docs', 'pictures');
const isTakingAnew = process.env['PICTURES'] === 'renew';

describe.runIf(hasTerminal())('pictures of the documents', { timeout: 240_000 }, () => {
  const product = builtProduct({ cheapVault: true });

  test('drill.svg shows the confirmation of a recovery as it is drawn today', async (context) => {
    const terminal = openTerminal(product, openMachine(product, context), ['drill', 'disaster-recovery']);
    context.onTestFinished(() => terminal.close());
    await answerUpTo(terminal, 'to confirm, type orders-dr');
    const file = join(FOLDER, 'drill.svg');
    const picture = terminal.picture();
    if (isTakingAnew) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, picture);
    }
    expect(wordsIn(readFileSync(file, 'utf8'))).toEqual(wordsIn(picture));
  });
});

/** Takes what is recommended until the screen shows what is wanted, and stands still. */
async function answerUpTo(terminal: Terminal, wanted: string): Promise<void> {
  let before = '';
  let since = performance.now();
  for (const end = since + 200_000; performance.now() < end; await pause(50)) {
    const now = terminal.text().replaceAll(/\d+/gu, '');
    if (now !== before) {
      before = now;
      since = performance.now();
    }
    if (performance.now() - since < 800) continue;
    if (now.includes(wanted)) return;
    if (/── Enter \w|press Enter when/u.test(now)) {
      terminal.type(KEYS.enter);
      since = performance.now();
    }
  }
  throw new Error(`the screen never showed "${wanted}":\n${terminal.text()}`);
}

/** The rows of a picture in words: digits, ids and what is drawn between words differ from drill to drill. */
function wordsIn(svg: string): string[] {
  const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/gu)].map(([, text = '']) => text);
  return (
    texts
      .join(' ')
      .replaceAll(/\b[0-9A-Z]{26}\b/gu, 'ID')
      // Guids and fingerprints: hexadecimal digits, at least one of them no letter.
      .replaceAll(/(?<![\p{Letter}\d-])(?=[a-f-]*\d)[\da-f-]+(?![\p{Letter}\d])/gu, ' ')
      .split(/[^\p{Letter}'-]+/u)
      .filter((word) => word.length > 2)
  );
}
