import { afterEach, expect, it, vi } from 'vitest';
import { watchReading } from '../../src/tui/watch-terminal.ts';
import { holdProcessUp, openWire, type Wire } from '../bench-kit/wire.ts';

const opened: { stop(): void }[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.stop();
});

async function open(): Promise<{ wire: Wire; reading: ReturnType<typeof watchReading> }> {
  const wire = await openWire();
  const reading = watchReading(() => performance.now());
  opened.push(wire, reading);
  return { wire, reading };
}

it('knows that a text may have waited since before the process was blocked', async () => {
  const { wire, reading } = await open();
  const read = new Promise<number>((resolve) => wire.end.once('data', () => resolve(reading.emptyAt())));
  wire.write('x');
  const written = performance.now();
  holdProcessUp(300);
  expect(await read).toBeLessThan(written);
});

it('moves on while it is followed, and does not block the process', async () => {
  const { reading } = await open();
  const first = reading.emptyAt();
  reading.follow(first + 40);
  await expect.poll(reading.emptyAt).toBeGreaterThanOrEqual(first + 40);
  const second = reading.emptyAt();
  reading.follow(second + 1);
  await expect.poll(reading.emptyAt).toBeGreaterThan(second);
});

it('wakes the process only until the time up to which it is followed', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'Date'] });
  try {
    const reading = watchReading(() => Date.now());
    opened.push(reading);
    expect(vi.getTimerCount()).toBe(0);
    const end = Date.now() + 1_000;
    reading.follow(end);
    reading.follow(end - 500);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(900);
    expect(reading.emptyAt()).toBeGreaterThan(end - 200);
    vi.advanceTimersByTime(200);
    expect(reading.emptyAt()).toBeGreaterThanOrEqual(end);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
