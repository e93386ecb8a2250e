import { writeSync } from 'node:fs';
import { failureOf } from '../../src/base/errors.ts';
import type { StreamName } from '../../src/store/journal.ts';
import { PROJECTIONS } from '../../src/store/projected.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { freshSigner } from './fresh-signer.ts';

/*
 * A process that appends until it is killed or the disk is full: `appender.ts HOME ENTRIES-PER-APPEND [RUN]`.
 * It holds the run's stream, and prints a line for an acknowledged append only after it resolved. With RUN it
 * also writes to the ledger in the same appends, taking and releasing it each time, because another process
 * wants it too.
 */
const [home = '', count = '1', run] = process.argv.slice(2);
const journal = await openSqliteStore({
  home,
  by: 'appender',
  signer: freshSigner(),
  projections: PROJECTIONS,
});
const say = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);
const stream: StreamName = `run/${run ?? 'a'}`;
const entry = { stream, type: 'note', body: { text: 'x'.repeat(400) } } as const;
const ledger = { ...entry, stream: 'instance/orders' } as const;
const entries = Array.from({ length: Number(count) }, () => entry);
const hold = await journal.hold(stream).catch((error: unknown) => say(failureOf(error)));
const holds = typeof hold === 'object' ? [hold] : [];

/** Undefined while the other process has the ledger. */
async function append() {
  if (run === undefined) return journal.append(entries, holds);
  const held = await journal.hold(ledger.stream).catch(() => undefined);
  if (held === undefined) return undefined;
  const written = await journal.append([...entries, ledger], [...holds, held]);
  await held.release();
  return written;
}

try {
  for (;;) {
    const last = (await append())?.findLast((one) => one.stream === stream);
    if (last !== undefined) say({ seq: last.seq, hash: last.hash });
  }
} catch (error) {
  say(failureOf(error));
}
await journal.append([entry], holds).catch((error: unknown) => say(failureOf(error)));
