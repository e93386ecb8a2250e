import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../../src/store/journal.ts';
import { openIn } from './open-in.ts';
import { temporaryHome } from './temporary-home.ts';

interface Acknowledged {
  readonly seq: number;
  readonly hash: string;
}

test('kill -9 in the middle of appending loses nothing acknowledged and leaves no partial append', async () => {
  const home = temporaryHome();
  let known: Acknowledged = { seq: 0, hash: '' };
  for (const wanted of [1, 17, 60]) {
    const before = known.seq;
    const appender = startAppender(home, 2);
    for await (const line of appender.lines) {
      known = JSON.parse(line);
      if (known.seq >= before + 2 * wanted) appender.process.kill('SIGKILL');
    }
    const journal = await openIn(home);
    const entries = await journal.read('run/a');
    await expectWhole(journal);
    await journal.close();
    expect(entries[known.seq - 1]?.hash).toBe(known.hash);
    expect(entries.length % 2).toBe(0);
    expect(entries.length - known.seq).toBeLessThanOrEqual(2);
  }
});

test('two processes with their own runs share a ledger, and the log stays intact', async () => {
  const home = temporaryHome();
  const counts = await Promise.all(
    ['b', 'c'].map(async (run) => {
      const appender = startAppender(home, 1, run);
      let acknowledged = 0;
      for await (const line of appender.lines) {
        acknowledged = JSON.parse(line).seq;
        if (acknowledged >= 40) appender.process.kill('SIGKILL');
      }
      return acknowledged;
    }),
  );
  const journal = await openIn(home);
  onTestFinished(() => journal.close());
  const heads = (await journal.streams()).filter(({ stream }) => stream !== 'store/log');
  expect(heads.map(({ stream }) => stream)).toEqual(['instance/orders', 'run/b', 'run/c']);
  const [ledger = 0, b = 0, c = 0] = heads.map(({ seq }) => seq);
  expect(ledger).toBe(b + c);
  expect(b + c).toBeGreaterThanOrEqual((counts[0] ?? 0) + (counts[1] ?? 0));
  expect(await journal.read('instance/orders')).toHaveLength(ledger);
  await expectWhole(journal);
});

test('a stream held by another process is refused with its holder, and is free at once when that process is killed', async () => {
  const home = temporaryHome();
  const appender = startAppender(home, 1);
  const first = await appender.lines[Symbol.asyncIterator]().next();
  expect(first.done).toBe(false);
  const journal = await openIn(home);
  onTestFinished(() => journal.close());
  const pid = appender.process.pid;
  await expect(journal.hold('run/a')).rejects.toMatchObject({
    code: 'journal.held',
    shortMessage: expect.stringContaining(`run/a is held by process ${pid} on `),
    evidence: { pid, command: `${home} 1` },
  });
  appender.process.kill('SIGKILL');
  await appender.exit;
  const hold = await journal.hold('run/a');
  await hold.release();
});

test('a leaked lock is not freed by the garbage collector', async () => {
  const home = temporaryHome();
  const journal = await openIn(home);
  onTestFinished(() => journal.close());
  await journal.hold('run/a');
  await expect(journal.hold('run/a')).rejects.toMatchObject({
    code: 'journal.held',
    shortMessage: expect.stringContaining('run/a is held by this process itself, since '),
  });
  collectGarbage();
  const other = startAppender(home, 1);
  const lines: string[] = [];
  for await (const line of other.lines) {
    lines.push(line);
    if (lines.length === 2) other.process.kill('SIGKILL');
  }
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ code: 'journal.held' });
});

/** Its head covers all entries, no stream has a gap, and it accepts appends. */
async function expectWhole(journal: Journal): Promise<void> {
  const [head, count] = [await journal.log.head(), await journal.log.count()];
  expect(head.size).toBe(count);
  for (const { stream, seq } of await journal.streams())
    expect((await journal.read(stream)).map((entry) => entry.seq)).toEqual(
      Array.from({ length: seq }, (_, at) => at + 1),
    );
  await journal.append([{ stream: 'store/log', type: 'note', body: null }], []);
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function startAppender(home: string, count: number, ...run: string[]) {
  const script = join(import.meta.dirname, 'appender.ts');
  const child: ChildProcess = spawn(process.execPath, [script, home, String(count), ...run], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  if (child.stdout === null) throw new Error('no stdout');
  return { process: child, exit, lines: createInterface({ input: child.stdout }) };
}
