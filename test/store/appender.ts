import { writeSync } from 'node:fs';
import { failureOf } from '../../src/errors.ts';
import { openSqliteJournal } from '../../src/store/sqlite-journal.ts';

/*
 * A process that appends until it is killed or the disk is full: `appender.ts HOME ENTRIES-PER-APPEND [RUN]`. It holds the
 * run's stream, and prints a line for what is acknowledged only after the append has resolved. With RUN it writes to the
 * ledger, which it does not hold, in the same appends.
 */
const [home = '', count = '1', run] = process.argv.slice(2);
const journal = await openSqliteJournal({ home, by: 'appender' });
const say = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`);
const entry = { stream: `run/${run ?? 'a'}`, type: 'note', body: { text: 'x'.repeat(400) } } as const;
const ledger = { ...entry, stream: 'instance/orders' } as const;
const entries = [
  ...Array.from({ length: Number(count) }, () => entry),
  ...(run === undefined ? [] : [ledger]),
];
try {
  await journal.hold(entry.stream);
  for (;;) {
    const { seq, hash } =
      (await journal.append(entries)).findLast(({ stream }) => stream === entry.stream) ?? {};
    say({ seq, hash });
  }
} catch (error) {
  say(failureOf(error));
}
await journal.append([entry]).catch((error: unknown) => say(failureOf(error)));
