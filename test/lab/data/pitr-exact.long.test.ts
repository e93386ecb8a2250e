import { expect, test } from 'vitest';
import { commits, openLedger, summary, testEngine, testInstance, writer } from './helpers.ts';

const { engine } = await testEngine();

test('any time in the range comes back exact to the row', async () => {
  const { data, backUp, open } = await testInstance(engine);
  // Later than any code of ours could ask: the server itself keeps when it committed what.
  await data.query('alter system set track_commit_timestamp = on');
  await data.stop();
  await data.start();
  await openLedger(data);
  const writing = writer(data);
  await backUp('one');
  for (let look = 0; look < 12; look += 1) await data.range();
  await backUp('two');
  for (let look = 0; look < 12; look += 1) await data.range();
  await writing.stop();
  const range = await data.range();
  if (range === undefined) throw new Error('there is no range');
  const committed = await commits(data);
  expect(committed.length).toBeGreaterThan(100);

  const chosen = new Set<string>();
  const length = range.end.getTime() - range.start.getTime();
  for (let turn = 0; turn <= 20; turn += 1) {
    const share = turn === 0 ? 0 : turn === 20 ? 1 : Math.random();
    const time = new Date(range.start.getTime() + Math.floor(length * share));
    const { backupId } = await data.restoreTo(time, open);
    chosen.add(backupId);
    const expected = committed.filter(({ at }) => at <= time.getTime());
    expect({ time, ...(await summary(data)) }).toEqual({
      time,
      rows: expected.length,
      last: expected.at(-1)?.id ?? 0,
    });
  }
  expect([...chosen].sort()).toEqual(['one', 'two']);
}, 1_800_000);
