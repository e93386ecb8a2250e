import { LifeboatError } from '../../src/base/errors.ts';
import type { CheckState, InstanceVerdict } from '../../src/plans/evaluation-schema.ts';
import type { AppPort } from '../../src/view/app/app-port.ts';
import { ENTRIES_A_PAGE, type EntriesPage } from '../../src/view/app/entries-page.ts';
import { rowOf } from '../../src/view/app/fleet-row.ts';
import type { Badge, Loaders, RunRow, SourceName, Sources } from '../../src/view/app/sources.ts';
import type { StartWish } from '../../src/view/app/start-wish.ts';
import { nothingAsked, type Part } from '../../src/view/fleet/fleet-facts.ts';
import { instanceStatus } from '../../src/view/fleet/instance-status.ts';
import type { Answer, InstanceStatus } from '../../src/view/fleet/status-schema.ts';
import type { RunView } from '../../src/view/run-view.ts';
import { createFakeRun, type FakeRun } from './fake-run.ts';
import { RUN_ID, VIEWS } from './fake-views.ts';
import { HOSTILE, HOSTILE_KINDS, hostileView } from './hostile-views.ts';
import type { Random } from './random.ts';

/** What the app asks of an invented world, and what was asked of it. */
export interface World extends AppPort {
  /** Which instances there are: all in earnest, all rehearsals, or some of both. */
  readonly badge: Badge;
  readonly names: readonly string[];
  readonly runIds: readonly string[];
  readonly begun: readonly StartWish[];
  /** Runs that are or were on the screen, to answer or to look at. */
  readonly runs: readonly FakeRun[];
  /** Answers that no person could have meant: another name than the one that was asked for. */
  readonly unmeant: readonly string[];
}

const NAMES = [
  'orders',
  'orders-dr',
  'billing',
  'ledger-of-the-whole-company-in-the-second-region',
  '注文データベース',
  'قاعدة-البيانات',
  'עברית-orders',
  'a👩‍👩‍👧‍👦b',
  'z̷̢̛̗̲͎͕̺͈̺̾̄̈a̷̧l̶g̵o',
  'x'.repeat(300),
  '',
  ...HOSTILE,
];

/** Two pages of the journal, and half of a third. */
const ENTRIES = 2.5 * ENTRIES_A_PAGE;

const TYPED_BY = ['orders', 'robin', 'person@example.com'];

/** A world of a seed: how many instances, how they are called, and how they answer. */
export function createWorld(random: Random, now: () => Date): World {
  const badge = random.one<Badge>(['LIVE', 'REHEARSAL', 'MIXED']);
  const count = random.one([0, 1, 2, 2, 7, 40, 500]);
  // A name stands once in a config, hostile or not.
  const names = random.many(count, (at) =>
    count > 10 || at > 4 ? `${text(random)} ${at}` : `${at}${text(random)}`,
  );
  const runIds = random.many(
    random.one([0, 1, 3, 60]),
    (at) => RUN_ID.slice(0, -3) + String(at).padStart(3, '0'),
  );
  const begun: StartWish[] = [];
  const runs: FakeRun[] = [];
  const unmeant: string[] = [];
  const isRehearsal = (at: number) => badge === 'REHEARSAL' || (badge === 'MIXED' && at % 2 === 1);
  const mode = (at: number) => (isRehearsal(at) ? 'REHEARSAL' : 'LIVE');

  const drive = (): FakeRun => {
    const run: FakeRun = createFakeRun(runView(random), (answer, { view, show, finish }) => {
      const { question } = lastAsked ?? view();
      const isWay = question?.options?.some(({ event }) => event === answer.event) === true;
      if (question?.kind === 'typed-name' && !isWay && answer.typed !== question.expected)
        unmeant.push(`${answer.event} with the name ${JSON.stringify(answer.typed)}`);
      lastAsked = runView(random);
      show(lastAsked);
      if (lastAsked.outcome !== undefined) finish({ how: 'ended', exitCode: 0 });
    });
    let lastAsked: RunView | undefined = run.view();
    if (lastAsked.outcome !== undefined) run.finish({ how: 'ended', exitCode: 0 });
    runs.push(run);
    return run;
  };
  const shown = async (show: Parameters<AppPort['resume']>[1]): Promise<readonly string[]> => {
    if (random.inPercent(25)) throw failure(random);
    await show(drive());
    return random.many(random.upTo(3), () => text(random));
  };
  const values = valuesOf({ random, now, names, runIds, badge, isRehearsal, mode });
  const load = <Name extends SourceName>(name: Name): Loaders[Name] => {
    const loader = async (
      of: Sources[Name]['of'],
      emit: (value: Sources[Name]['value']) => void,
      signal: AbortSignal,
    ) => {
      // Home is read from the config, which was read already: it is there, or the app is not.
      if (name === 'home') return emit(values[name](of));
      const emits = random.one([0, 1, 1, 1, 3]);
      // Nothing in the world answers at once.
      for (let at = 0; at < emits; at += 1) {
        await Promise.resolve();
        emit(values[name](of));
      }
      if (random.inPercent(20)) throw failure(random);
      // Some never answer, and learn only that their answer is no longer awaited.
      if (random.inPercent(10)) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    return loader as Loaders[Name];
  };
  return {
    badge,
    names,
    runIds,
    begun,
    runs,
    unmeant,
    loaders: {
      home: load('home'),
      fleet: load('fleet'),
      runs: load('runs'),
      workers: load('workers'),
      instance: load('instance'),
      backups: load('backups'),
      keys: load('keys'),
      entries: load('entries'),
      dryRun: load('dryRun'),
      followUps: load('followUps'),
      drillRuns: load('drillRuns'),
      olderEntries: load('olderEntries'),
      audit: load('audit'),
      moment: load('moment'),
      report: load('report'),
      lab: load('lab'),
      secretFile: load('secretFile'),
      publicKeyFile: load('publicKeyFile'),
    },
    start: (wish, show) => {
      begun.push(wish);
      return shown(show);
    },
    startPlan: async () => {
      throw failure(random);
    },
    resume: (_, show) => shown(show),
    watch: async () => {
      if (random.inPercent(25)) throw failure(random);
      return { of: 'run', port: drive() };
    },
    writeReport: async (runId) => {
      if (random.inPercent(25)) throw failure(random);
      return `report-${runId}.html`;
    },
    carryOut: async () => {
      if (random.inPercent(25)) throw failure(random);
      return { text: text(random), lines: [text(random)], hints: [text(random)] };
    },
    addKey: async (instance, file) => {
      if (file === '') throw new Error('a key was taken from no file at all');
      if (random.inPercent(25)) throw failure(random);
      return `a key of ${instance} is stored`;
    },
    changeLab: async () => {
      if (random.inPercent(25)) throw failure(random);
      return text(random);
    },
    unlock: () => undefined,
    shell: async () => {
      if (random.inPercent(25)) throw failure(random);
    },
  };
}

/** A text chosen by a person or a program. */
export function text(random: Random): string {
  return random.one(random.inPercent(60) ? NAMES.slice(0, 4) : NAMES);
}

function failure(random: Random): Error {
  if (random.inPercent(20)) return new TypeError(text(random));
  return new LifeboatError('service.unreachable', text(random), {
    hints: random.many(random.upTo(4), () => text(random)),
  });
}

function runView(random: Random): RunView {
  if (random.inPercent(20)) return hostileView(random.one(HOSTILE), random.one(HOSTILE_KINDS));
  return random.one(Object.values(VIEWS));
}

interface Known {
  readonly random: Random;
  readonly now: () => Date;
  readonly names: readonly string[];
  readonly runIds: readonly string[];
  readonly badge: Badge;
  readonly isRehearsal: (at: number) => boolean;
  readonly mode: (at: number) => 'LIVE' | 'REHEARSAL';
}

/** What each source may say, with a hostile text wherever a text can be. */
function valuesOf({ random, now, names, runIds, badge, isRehearsal, mode }: Known): {
  readonly [Name in SourceName]: (of: Sources[Name]['of']) => Sources[Name]['value'];
} {
  const word = () => text(random);
  const maybe = <Value>(make: () => Value): Value | undefined => (random.inPercent(70) ? make() : undefined);
  const time = () => new Date(now().getTime() - random.upTo(10_000_000) * 1000).toISOString();
  const some = <Item>(make: (at: number) => Item) => random.many(random.one([0, 1, 2, 20]), make);
  const number = () => random.one([0, 1, 12, 4_000, 123_456_789_012]);
  const part = <Value>(make: () => Value): Part<Value> =>
    random.one<Part<Value>>([
      { state: 'known', at: now(), value: make() },
      { state: 'known', at: now(), value: make() },
      { state: 'failed', at: now(), code: 'service.unreachable', why: word() },
      { state: 'missing' },
      { state: 'unasked' },
    ]);
  const rows = (): readonly RunRow[] =>
    runIds.map((runId, at) => ({
      runId,
      runbook: word(),
      version: '1',
      instance: word(),
      ...(random.inPercent(50) ? { target: word() } : {}),
      mode: mode(at),
      startedAt: time(),
      lastAt: time(),
      status: random.one(['open', 'closed', 'abandoned'] as const),
      where: word(),
      proven: random.inPercent(50),
      followUps: random.upTo(4),
      ...(random.inPercent(20) ? { heldBy: word() } : {}),
    }));
  const page = (first: number, count: number): EntriesPage => ({
    rows: random.many(count, (at) => ({
      index: first + count - at - 1,
      stream: word(),
      seq: at,
      at: time(),
      by: word(),
      type: word(),
      sentence: word(),
      body: random.one([JSON.stringify({ text: word() }), word()]),
      hash: 'ab'.repeat(32),
    })),
    first,
    size: ENTRIES,
    anchor: maybe(word),
  });
  return {
    home: () => ({
      instances: names.map((name, at) => ({
        name,
        role: at % 3 === 2 ? 'target' : 'source',
        isRehearsal: isRehearsal(at),
        revision: random.one(['61', '62', 'v0', 'auto']),
        place: word(),
      })),
      operator: random.one(TYPED_BY),
      folder: word(),
      config: word(),
      store: word(),
      lab:
        badge === 'REHEARSAL' ? { place: word(), elsewhere: random.many(random.upTo(3), word) } : undefined,
    }),
    fleet: () => ({
      instances: names.map((name) => rowOf(status(random, name, now()))),
      answered: random.upTo(names.length + 1),
      drills: word(),
    }),
    runs: () => rows(),
    workers: () => ({
      items: some(() => ({
        ...{ host: word(), pid: random.upTo(100_000), label: word(), holds: maybe(number) },
        ...{ since: now().toISOString(), seen: now().toISOString() },
        state: random.one(['live', 'stopped', 'gone'] as const),
      })),
      runs: { left: random.upTo(9), unheld: random.many(random.upTo(3), word) },
      troubles: [],
    }),
    followUps: () =>
      some(() => ({
        ...{ id: word(), kind: word(), what: word(), subject: word(), owner: word(), instance: word() },
        ...{ age: maybe(number), left: maybe(() => number() - 1_000), commands: some(word) },
        ...{ doable: undefined, closed: undefined, run: maybe(word), runbook: maybe(word) },
      })),
    drillRuns: () => rows(),
    instance: (name) => ({
      name,
      groups: some(() => ({ title: word(), rows: part(() => some(() => [word(), word()] as const)) })),
      metrics: part(() => ({
        disks: some(() => ({ text: word(), isOpen: random.inPercent(20) })),
        series: some(() => ({ path: word(), values: some(number), at: time() })),
      })),
      restores: part(() =>
        some((at) => ({
          id: at,
          backupId: maybe(number),
          status: word(),
          restoredFrom: maybe(time),
          triggeredAt: maybe(time),
          finishedAt: maybe(time),
        })),
      ),
    }),
    backups: () => ({
      rows: random.many(random.one([0, 1, 5, 200]), (at) => ({
        id: at,
        backupId: maybe(word),
        status: word(),
        triggeredAt: maybe(time),
        ageSeconds: maybe(number),
        size: maybe(number),
        provenAt: maybe(time),
        keys: some(() => ({ fingerprint: word(), isHeld: maybe(() => random.inPercent(50)) })),
      })),
      unread: random.inPercent(20) ? some(word) : undefined,
      ...(random.inPercent(50) ? { window: { earliest: time(), latest: time() } } : { noWindow: word() }),
    }),
    keys: () => ({
      store: word(),
      rows: some(() => ({
        instance: word(),
        fingerprint: word(),
        state: random.one(['pending', 'set', 'proven', 'uncertain', 'unknown'] as const),
        isHeld: random.inPercent(50),
        setAt: maybe(time),
        endedAt: maybe(time),
        provenAt: maybe(time),
        provenBackups: random.upTo(5),
        isConfigured: random.inPercent(80),
      })),
      unread: random.inPercent(20) ? word() : undefined,
    }),
    entries: () => page(ENTRIES - (ENTRIES % ENTRIES_A_PAGE), ENTRIES % ENTRIES_A_PAGE),
    olderEntries: ({ page: at }) => page(at * ENTRIES_A_PAGE, ENTRIES_A_PAGE),
    audit: () => ({
      verdict: random.one(['intact', 'consistent', 'not-intact'] as const),
      words: word(),
      exitCode: random.one([0, 1, 3]),
      entries: number(),
      findings: some(() => ({ severity: random.one(['problem', 'limit', 'note'] as const), text: word() })),
    }),
    moment: () => random.one([{ time: time() }, { problem: `no time: ${word()}` }]),
    dryRun: () => ({
      steps: some(() => ({
        title: word(),
        calls: some(word),
        does: some(word),
        asks: random.inPercent(30),
        destroys: random.inPercent(30),
        usualSeconds: maybe(number),
      })),
      forever: some(word),
      wayBack: some(word),
      approvals: some(word),
      found: some(() => [word(), word()] as const),
      asks: maybe(word),
      inTheWay: random.inPercent(20) ? { text: word(), hints: some(word) } : undefined,
      usualSeconds: maybe(number),
      earlierRuns: random.upTo(4),
    }),
    lab: () => ({
      place: word(),
      about: word(),
      playing: maybe(word),
      scenarios: some(() => ({ name: word(), summary: word() })),
      faults: some(word),
      instances: some(() => ({
        name: word(),
        state: random.one(['running', 'lost', 'deleted', word()]),
        backups: maybe(number),
      })),
      clock: {
        now: random.one([time(), word()]),
        rate: number(),
        skewSeconds: -number(),
        aheadSeconds: number(),
      },
      routerSeconds: number(),
      updateBlocking: random.inPercent(50),
      calls: some(() => ({ at: time(), instance: word(), endpoint: word(), detail: word() })),
      callCount: number(),
    }),
    secretFile: () => random.one(['readable', 'unread'] as const),
    publicKeyFile: () => random.one(['readable', 'unread'] as const),
    report: () => ({
      markdown: random.one([
        VIEWS.choice.prose.markdown,
        word(),
        `# ${word()}\n\n| a | b |\n|---|---|\n| ${word()} | c |`,
      ]),
      command: word(),
      mode: mode(0),
      instance: word(),
    }),
  };
}

function status(random: Random, name: string, now: Date): InstanceStatus {
  const asked = instanceStatus(
    nothingAsked({ name, role: random.one(['source', 'target'] as const), objectives: { rto: 1_800_000 } }),
    now,
  );
  const answer = random.one<Answer>(['yes', 'no', 'unknown', 'empty']);
  const verdict = {
    answer,
    reasons:
      answer === 'no' || answer === 'unknown' ? [{ answer, code: 'key.not-held', text: text(random) }] : [],
  };
  return {
    ...asked,
    state: text(random),
    newestBackup: random.inPercent(50)
      ? { id: 41, ageSeconds: random.upTo(1_000_000), meetsRpo: random.inPercent(50), size: 123_456 }
      : undefined,
    recoverable: verdict,
    evaluation: {
      verdict: random.one<InstanceVerdict>(['proven', 'ready', 'not-ready', 'unknown', 'empty']),
      reason: text(random),
      checks: asked.evaluation.checks.map((check) => ({
        ...check,
        state: random.one<CheckState>(['green', 'red', 'unknown', 'not-applicable']),
        reason: text(random),
      })),
    },
    inPlace: verdict,
    elsewhere: verdict,
    openRuns: random.inPercent(10) ? [text(random)] : [],
    inDoubt: random.inPercent(10) ? 1 : 0,
    cautions: random.many(random.upTo(3), () => text(random)),
  };
}
