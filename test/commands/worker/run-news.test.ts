import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { approvalPaths } from '../../../src/approvals/approval-files.ts';
import { RunNews } from '../../../src/commands/worker/run-news.ts';
import type { Entry, Head, ProjectedRow } from '../../../src/store/journal.ts';
import type { RunProgress } from '../../../src/store/projections/runs.ts';
import { temporaryHome } from '../../store/temporary-home.ts';

const LEFT = '2026-03-01T02:00:00.000Z';
const LATER = '2026-03-01T03:00:00.000Z';
const MARGIN_MS = 5_000;

function runOf(runId: string, runbook = 'rotate-key', more: Partial<RunProgress> = {}): RunProgress {
  return { runId, runbook, lastAt: LEFT, status: 'open', awaits: 'person', ...more } as RunProgress;
}

/** A journal that counts what it is asked. */
function world() {
  const home = temporaryHome();
  const asked: string[] = [];
  const said: string[] = [];
  const entries = new Map<string, readonly Partial<Entry>[]>();
  const children = new Map<string, readonly object[]>();
  const news = new RunNews({
    home,
    say: (runId, text) => void said.push(`${runId}: ${text}`),
    journal: {
      read: async (stream) => {
        asked.push(stream);
        return (entries.get(stream) ?? []) as readonly Entry[];
      },
      rows: async (_, { group = '' } = {}) => {
        asked.push(`children of ${group}`);
        return (children.get(group) ?? []).map((value) => ({ value }) as unknown as ProjectedRow);
      },
      streams: async () => {
        asked.push('heads');
        const known = [...entries].filter(([stream]) => stream.startsWith('plan/'));
        return known.map(([stream, { length: seq }]) => ({ stream, seq, hash: '' }) as Head);
      },
    },
  });
  const sweep = async (runs: readonly RunProgress[], more: readonly RunProgress[] = []) => {
    asked.length = 0;
    const found = await news.among(runs, async () => [...runs, ...more], MARGIN_MS);
    return { found: [...found], asked: [...asked] };
  };
  /** Of this run, with this request. */
  const ask = (runId: string, challenge: string) => {
    const words = { target: 'orders', text: '', order: '', plan: '', requester: 'ada', expiresAt: LATER };
    const stream = `run/${runId}` as const;
    entries.set(stream, [
      { stream, seq: 1, at: LEFT, type: 'approval.asked', body: { challenge, ...words } },
    ]);
    const { signature } = approvalPaths(home, runId, challenge);
    mkdirSync(dirname(signature), { recursive: true });
    return signature;
  };
  return { home, news, entries, children, sweep, ask, said };
}

test('a thousand runs that wait for a signature cause no read of the journal', async () => {
  const { sweep } = world();
  const runs = Array.from({ length: 1_000 }, (_, at) => runOf(`run-${at}`));
  expect(await sweep(runs)).toEqual({ found: [], asked: [] });
});

test('a signature for the current request of a run is news; one for an earlier request is not', async () => {
  const { home, sweep, ask } = world();
  const [now, before] = ['a'.repeat(16), 'b'.repeat(16)];
  writeFileSync(ask('signed', now), 'signature');
  ask('once', now);
  writeFileSync(approvalPaths(home, 'once', before).signature, 'signature');
  expect((await sweep([runOf('signed'), runOf('once'), runOf('unsigned')])).found).toEqual(['signed']);
});

test('a signature is no news once the run was driven with it, and another one is', async () => {
  const { news, sweep, ask } = world();
  const run = runOf('signed');
  const signature = ask('signed', 'a'.repeat(16));
  writeFileSync(signature, 'signature');
  const wasDriven = await news.noted(run);
  expect((await sweep([run])).found, 'it may not have been taken up').toEqual(['signed']);
  wasDriven();
  expect((await sweep([run])).found).toEqual([]);
  writeFileSync(signature, 'a better signature');
  expect((await sweep([run])).found).toEqual(['signed']);
});

test('a signature that came while the run was driven is news', async () => {
  const { news, sweep, ask } = world();
  const run = runOf('signed');
  const wasDriven = await news.noted(run);
  writeFileSync(ask('signed', 'a'.repeat(16)), 'signature');
  wasDriven();
  expect((await sweep([run])).found).toEqual(['signed']);
});

test('a signature that cannot be read is reported once, and holds up no other run', async () => {
  const { sweep, ask, said } = world();
  mkdirSync(ask('broken', 'a'.repeat(16)));
  writeFileSync(ask('signed', 'b'.repeat(16)), 'signature');
  const runs = [runOf('broken'), runOf('signed')];
  expect((await sweep(runs)).found).toEqual(['signed']);
  expect((await sweep(runs)).found).toEqual(['signed']);
  expect(said).toEqual([expect.stringMatching(/^broken: .* cannot be read/u)]);
});

test('waiting plans cost one query while nothing happens for them', async () => {
  const { entries, sweep } = world();
  const plans = Array.from({ length: 50 }, (_, at) => runOf(`plan-${at}`, 'plan'));
  await sweep(plans);
  expect(await sweep(plans)).toEqual({ found: [], asked: ['heads'] });
  entries.set('plan/plan-7', [{ at: LATER, type: 'plan.wish' }]);
  expect(await sweep(plans)).toEqual({ found: ['plan-7'], asked: ['heads', 'plan/plan-7'] });
});

test('a child that has moved or ended is news for its plan, until the plan itself has moved', async () => {
  const { children, sweep } = world();
  const plan = runOf('region', 'plan');
  const child = runOf('child', 'rotate-key', { planRun: 'region', lastAt: '2026-03-01T01:00:00.000Z' });
  expect((await sweep([plan], [child])).found).toEqual([]);
  expect((await sweep([plan], [{ ...child, lastAt: LATER }])).found).toEqual(['region']);
  expect((await sweep([plan], [child])).found).toEqual([]);
  children.set('region', [{ endedAt: LATER }]);
  expect((await sweep([plan])).found).toEqual(['region']);
  expect((await sweep([plan])).found, 'as long as nobody has taken the plan').toEqual(['region']);
  const after = { ...plan, lastAt: '2026-03-01T04:00:00.000Z' };
  expect((await sweep([after])).found).toEqual([]);
});
