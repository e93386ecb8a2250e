import { expect, onTestFinished, test } from 'vitest';
import type { Journal, StreamName } from '../../src/store/journal.ts';
import type { Volume } from '../../src/store/volume.ts';

interface MeasuredStore {
  open(): Promise<Journal>;
  volume(): Promise<Volume>;
}

/** What every engine says about how much its store holds. */
export function volumeContract(engine: string, make: () => Promise<MeasuredStore>): void {
  test(`${engine}: what was added today is counted by entries and by the bytes of their texts`, async () => {
    const store = await make();
    const journal = await store.open();
    onTestFinished(() => journal.close());
    const before = await store.volume();
    const streams: readonly StreamName[] = ['run/one', 'run/two'];
    const holds = await Promise.all(streams.map((stream) => journal.hold(stream)));
    const body = { text: 'x'.repeat(1_000) };
    const entries = streams.flatMap((stream) =>
      Array.from({ length: 3 }, () => ({ stream, type: 'note', body })),
    );
    await journal.append(entries, holds);
    const after = await store.volume();
    const added = (of: 'entries' | 'bytes') =>
      [before, after].map(({ days }) => days.reduce((sum, day) => sum + day[of], 0));
    expect(added('entries')[1]).toBe((await journal.log.head()).size);
    const [few = 0, many = 0] = added('bytes');
    expect(many - few).toBeGreaterThanOrEqual(6 * 1_000);
    // With the names of six entries, and the first entry of the log, which comes with the first append.
    expect(many - few).toBeLessThan(6 * 1_100 + 1_000);
    expect(after.days.at(-1)?.day).toBe((await journal.read('run/one'))[0]?.at.slice(0, 10));
    expect(after.streams).toBe((await journal.streams()).length);
    expect(after.bytes).toBeGreaterThan(many);
  });
}
