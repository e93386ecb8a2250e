import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { readCapped } from '../../src/service/whole-answers.ts';

const SMALL = 300;
const COUNT = 1_000;

// A real body reads ahead, so it would not tell when a chunk was taken.
const read = (chunks: AsyncIterable<Buffer>, cap: number) =>
  readCapped(chunks as unknown as Dispatcher.ResponseData['body'], cap);

test('a thousand small answers in progress take less than four megabytes', async () => {
  const end = Promise.withResolvers<void>();
  let begun = 0;
  const all = Promise.withResolvers<void>();
  async function* slow() {
    yield Buffer.alloc(SMALL, 'a');
    begun += 1;
    if (begun === COUNT) all.resolve();
    await end.promise;
  }
  const before = process.memoryUsage().arrayBuffers;
  const bodies = Array.from({ length: COUNT }, () => read(slow(), 64 * 1024));
  await all.promise;
  const taken = process.memoryUsage().arrayBuffers - before;
  end.resolve();
  for (const body of await Promise.all(bodies)) expect(body).toHaveLength(SMALL);
  expect(taken).toBeLessThan(4 * 2 ** 20);
});

test.each([1, 7, 2_048, 5_000, 70_000])(
  'an answer that arrives in pieces of %i bytes is complete',
  async (piece) => {
    const whole = Buffer.from(Array.from({ length: 150_000 }, (_, at) => at % 251));
    async function* pieces() {
      for (let at = 0; at < whole.length; at += piece) yield whole.subarray(at, at + piece);
    }
    expect((await read(pieces(), whole.length))?.equals(whole)).toBe(true);
    expect(await read(pieces(), whole.length - 1)).toBeUndefined();
  },
);
