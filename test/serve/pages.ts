import type { PageSources } from '../../src/serve/app.ts';
import type { Head, PageOf, PlanLane, RunRow } from '../../src/serve/page.ts';

/* Pages of every kind, full of one text, for the tests of what is drawn of them. */

const AT = '2026-03-01T03:10:00.000Z';
const THEN = '2026-03-01T03:02:00.000Z';
export const RUN = '01K00000000000000000000001';

const IS: readonly PlanLane['is'][] = [
  ...(['done', 'done', 'done', 'at-work', 'waiting', 'failing', 'failed', 'later', 'later', 'out'] as const),
];

/** How many lanes, findings and rows of each kind there are. */
interface Size {
  readonly text?: string;
  readonly rows?: number;
  readonly lanes?: number;
}

function parts({ text = 'it went on', rows = 3 }: Size) {
  const many = <Row>(row: (at: number) => Row): Row[] => Array.from({ length: rows }, (_, at) => row(at));
  const run: RunRow = {
    ...{
      runId: RUN,
      runbook: 'restore-backup',
      instance: 'orders',
      target: 'orders-dr',
      mode: 'LIVE' as const,
    },
    ...{ by: text, startedAt: THEN, lastAt: AT, status: 'open' as const },
    ...{ where: text, proven: false, driver: text },
  };
  const head: Head = {
    ...{ at: AT, log: { size: 78, root: 'ab'.repeat(32) }, title: text, headline: `LIVE: ${text}` },
    ...{ tone: 'warn' as const, text: `LIVE: ${text}\n${text}` },
  };
  const shared = {
    changes: many(() => ({ at: AT, about: text, runId: RUN, text, tone: 'bad' as const })),
    followUps: many(() => ({ what: text, owner: text, instance: text, ageSeconds: 60, leftSeconds: -60 })),
    asks: many(() => ({ prompt: text, whom: text, runId: RUN, count: 2 })),
    more: { changes: 3, followUps: 4 },
  };
  const clocks = {
    objectives: [{ name: 'RTO', running: true, tone: 'bad', words: text, valueSeconds: 5 }] as const,
    forecast: text,
  };
  const verdicts = many((at) => ({
    ...{ subject: `${text}-${at}`, verdict: 'not-ready', reason: text, since: THEN, recordedAt: THEN },
    findings: [{ check: 'key-held', state: 'red', reason: text, owner: text, firstSeen: THEN, due: AT }],
  })) as unknown as PageOf<'page-evaluation'>['verdicts'];
  const due = { isOverdue: true, everySeconds: 90 * 86_400, dueAt: THEN, fromFuture: [] };
  return { run, head, shared, clocks, verdicts, due, many };
}

function boardOf(size: Size = {}): PageOf<'page-board'> {
  const { run, head, shared, verdicts, due, many } = parts(size);
  const runs = many(() => run);
  const ended = many(() => ({ ...run, status: 'closed' as const, result: 'proven' as const }));
  return { ...head, ...shared, runs, ended, verdicts, unevaluated: [size.text ?? 'stock'], drills: due };
}

function runOf(size: Size = {}): PageOf<'page-run'> {
  const { run, head, shared, clocks, many } = parts(size);
  const { text = 'a step' } = size;
  return {
    ...{ ...head, ...shared, ...clocks, run, doing: text, trouble: text },
    steps: [
      { title: text, state: 'done', seconds: 4, note: text },
      { title: text, state: 'current' },
      { title: text, state: 'ahead' },
    ],
    facts: many(() => ({ label: text, value: text, tone: 'plain' as const })),
  };
}

function planOf(size: Size = {}): PageOf<'page-plan'> {
  const { run, head, shared, clocks } = parts(size);
  const { text = 'restoring', lanes = 12 } = size;
  const all = Array.from({ length: lanes }, (_, at): PlanLane => {
    const is = IS[at % IS.length] ?? 'done';
    return {
      ...{ name: `${text}-${at}`, target: `${text}-dr`, is, state: is, tone: 'plain', words: text },
      ...{ step: 'recover (1 of 3)', runId: RUN, since: THEN },
    };
  });
  const count = (...which: readonly PlanLane['is'][]) => all.filter(({ is }) => which.includes(is)).length;
  const counts = {
    ...{ done: count('done'), atWork: count('at-work'), waiting: count('waiting'), later: count('later') },
    ...{ failed: count('failing', 'failed'), out: count('out') },
    left: 0,
  };
  const group = {
    id: 'data',
    words: text,
    tone: 'bad',
    wave: { at: 1, of: 3 },
    counts,
    firstFailure: text,
  } as const;
  return {
    ...{ ...head, ...shared, ...clocks, run: { ...run, runbook: 'plan' }, plan: text },
    groups: [
      { ...group, lanes: all },
      { ...group, id: 'apps', lanes: all.slice(0, 3) },
    ],
  };
}

function evaluationOf(size: Size = {}): PageOf<'page-evaluation'> {
  const { head, verdicts } = parts(size);
  return { ...head, verdicts, unevaluated: [size.text ?? 'stock'] };
}

function drillsOf(size: Size = {}): PageOf<'page-drills'> {
  const { head, due, many } = parts(size);
  const { text = 'full' } = size;
  return {
    ...{ ...head, due },
    drills: many(() => ({
      id: text,
      scope: text,
      outcome: 'failed' as const,
      at: THEN,
      chapters: 4,
      proven: 3,
    })),
    rehearsals: many(() => ({ name: text, does: text, next: AT })),
  };
}

/** Sources that answer with such pages. `runs` names the ids that there are. */
export function sourcesOf(size: Size = {}): PageSources {
  return {
    board: async () => boardOf(size),
    evaluation: async () => evaluationOf(size),
    drills: async () => drillsOf(size),
    run: async (id) => {
      if (id === RUN) return { kind: 'run', page: runOf(size) };
      return id === 'PLAN' ? { kind: 'plan', page: planOf(size) } : undefined;
    },
    report: async () => undefined,
    size: () => 78,
  };
}

/** Every address that such sources have a page for. */
export const PATHS = ['/', '/evaluation', '/drills', `/runs/${RUN}`, '/runs/PLAN', '/runs/PLAN/groups/data'];
