import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openStoreOf } from '../../src/compose/store-of.ts';
import { signerOf } from '../bench-kit/key-store.ts';
import { lookOn } from '../bench-kit/look-on.ts';
import { useQuickBenches } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';

/** How many look on. */
const LOOKERS = 200;
/** How many entries are appended in each period, and how many periods there are with and without them. */
const [APPENDS, PERIODS] = [60, 5];

/** Resident memory of a process in MiB. */
function memoryOf(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

const middle = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

describe('pages under load', () => {
  const bench = useQuickBenches();

  test('200 viewers, fifty of them with a dead connection, miss no entry and fill no memory', async (context) => {
    const made = await bench(context);
    await made.rotate('--yes', '--confirm', 'orders');
    const page = made.start('serve', '--listen', '127.0.0.1:0');
    await until(() => page.stderr().includes('the page is at'));
    const url = /http:\/\/\S+(?=\/)/u.exec(page.stderr())?.[0] ?? '';
    const journal = await openStoreOf({ env: made.env }, { by: 'Robin', signer: await signerOf(made.home) });
    context.onTestFinished(() => journal.close());
    const hold = await journal.hold('plan/01K00000000000000000000001');
    const appended = async () => {
      const times: number[] = [];
      for (let at = 0; at < APPENDS; at += 1) {
        const begun = performance.now();
        await journal.append([{ stream: hold.resource, type: 'plan.wish', body: { at } }], [hold]);
        times.push(performance.now() - begun);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      return middle(times);
    };
    const [without, withThem, memory]: number[][] = [[], [], []];
    let pages = 0;
    for (let period = 0; period < PERIODS; period += 1) {
      without?.push(await appended());
      const lookers = lookOn(url, '/', LOOKERS);
      await lookers.there;
      withThem?.push(await appended());
      memory?.push(memoryOf(page.child.pid));
      const counted = await lookers.end();
      expect(counted.lost).toBe(0);
      pages += counted.pages;
    }
    await hold.release();
    const ratio = middle(withThem ?? []) / middle(without ?? []);
    const told = `ratio ${ratio.toFixed(2)}, ${pages} pages, MiB ${(memory ?? []).map(Math.round).join(' ')}`;
    process.stdout.write(`${told}\n`);
    expect(pages, told).toBeGreaterThan(LOOKERS);
    // A heap settles; then it no longer grows with those who come and go.
    expect(memory?.at(-1), told).toBeLessThan(1.5 * (memory?.at(1) ?? 0));
    page.child.kill('SIGTERM');
    expect((await page.ended).code).toBe(0);
  }, 400_000);
});
