import { describe, expect, test } from 'vitest';
import { noticesOfRuns } from '../../src/compose/read-notices.ts';
import { NotifyEvent } from '../../src/config/schema.ts';
import type { Entry, Json } from '../../src/store/journal.ts';
import { triedEntry } from '../../src/store/projections/outbox.ts';
import { readerOf, recorded } from '../store/projections/generated-entries.ts';

/** A recovery that stood at two questions, up to its last step. */
const WHOLE = recorded().find(
  ([started]) => (started?.body as { runbook?: string } | undefined)?.runbook === 'restore-backup',
) as readonly Entry[];
const RTO = 600;
const runId = (WHOLE[0]?.stream ?? '').slice('run/'.length);

/** The run up to its first entry that led to this state, with an objective. */
function until(state: string, input: Record<string, Json> = {}): readonly Entry[] {
  const last = WHOLE.findIndex(({ body }) => (body as { to?: string }).to === state);
  return numbered(WHOLE.slice(0, last + 1)).map((entry) => {
    if (entry.type !== 'run.started') return entry;
    const body = entry.body as { readonly input: Record<string, Json> };
    const given = { ...body.input, ...input };
    return { ...entry, body: { ...body, input: given, objectives: { rtoSeconds: RTO } } };
  });
}

function numbered(entries: readonly Entry[]): readonly Entry[] {
  return entries.map((entry, index) => ({ ...entry, index }));
}

/** The same with another entry of the run, or of the outbox, at its end. */
function then(
  entries: readonly Entry[],
  type: string,
  body: Json,
  more: Partial<Entry> = {},
): readonly Entry[] {
  const last = entries.at(-1) as Entry;
  return [...entries, { ...last, seq: last.seq + 1, index: last.index + 1, type, body, ...more }];
}

/** What is to be sent this many seconds after the last entry of the run. */
async function told(entries: readonly Entry[], seconds: number, all = false, from = -1) {
  const at = Date.parse(entries.at(-1)?.at ?? '') + seconds * 1000;
  const reader = { ...readerOf(entries), clock: async () => () => new Date(at) };
  return (await noticesOfRuns(reader, { from, all, events: new Set(NotifyEvent.options) })).map(
    ({ id }) => id,
  );
}

const OVER = then(numbered(WHOLE), 'run.closed', { outcome: 'done', proven: true });
const ASKED = until('confirm.asking');
const QUESTION = `question/${runId}/${ASKED.at(-1)?.seq}`;
const PAUSED = then(until('restore.sending'), 'run.paused', {
  reason: 'credentials',
  failure: { code: 'c' },
});

describe('a question is notified', () => {
  test.each<[string, readonly Entry[], number, readonly string[]]>([
    ['not while somebody may just be reading it', ASKED, 29, []],
    ['when it stands for half a minute', ASKED, 30, [QUESTION]],
    ['at once when its process has left', then(ASKED, 'run.detached', { why: 'w' }), 0, [QUESTION]],
    [
      'not at once when it was taken up again',
      then(then(ASKED, 'run.detached', { why: 'w' }), 'run.resumed', { pid: 7 }),
      0,
      [],
    ],
    ['of no step that is at work, however long', until('restore.waiting'), 100, []],
    ['where the run waits for new credentials', PAUSED, 30, [`question/${runId}/${PAUSED.at(-1)?.seq}`]],
    ['never of a run that is over', OVER, 1000, [`ended/${runId}`]],
  ])('%s', async (_, entries, seconds, expected) => {
    expect(await told(entries, seconds)).toEqual(expected);
  });

  test('not of a runbook that this version does not have', async () => {
    const [first, ...rest] = ASKED as [Entry, ...Entry[]];
    const body = { ...(first.body as object), version: '999' };
    expect(await told([{ ...first, body }, ...rest], 1000)).toEqual([]);
  });
});

describe('an objective is in danger', () => {
  const waiting = until('restore.waiting');
  const ranFor = (Date.parse(waiting.at(-1)?.at ?? '') - Date.parse(waiting[0]?.at ?? '')) / 1000;
  const early = new Date(Date.parse(waiting[0]?.at ?? '') - 400_000).toISOString();
  test.each<[string, readonly Entry[], number, readonly string[]]>([
    ['not before 80 % of it have passed', waiting, RTO * 0.8 - ranFor - 1, []],
    ['from then on', waiting, RTO * 0.8 - ranFor + 1, [`rto/${runId}`]],
    ['counted from the incident', until('restore.waiting', { incidentAt: early }), 81, [`rto/${runId}`]],
    ['not once the data is back', until('fresh.waiting'), RTO * 10, []],
    ['not where the run has no objective', numbered(WHOLE.slice(0, waiting.length)), RTO * 10, []],
  ])('%s', async (_, entries, seconds, expected) => {
    expect(await told(entries, seconds)).toEqual(expected);
  });
});

describe('an end is notified', () => {
  const tried = (outcome: 'delivered' | 'failed', closes?: 'delivered' | 'given-up') => {
    const { type, body, stream } = triedEntry({ id: `ended/${runId}`, target: 'hook', outcome, closes });
    return then(OVER, type, body, { stream });
  };
  test.each<[string, readonly Entry[], boolean, readonly string[]]>([
    ['until each target has it', tried('failed'), false, [`ended/${runId}`]],
    ['not any more then', tried('delivered', 'delivered'), true, []],
    ['nor once it was given up', tried('failed', 'given-up'), false, []],
    ['but when all is asked for', tried('failed', 'given-up'), true, [`ended/${runId}`]],
  ])('%s', async (_, entries, all, expected) => {
    expect(await told(entries, 0, all)).toEqual(expected);
  });
});

test('the record of a run from before every target is not read', async () => {
  for (const entries of [OVER, ASKED, until('restore.waiting')])
    expect(await told(entries, 1000, true, entries.length)).toEqual([]);
});
