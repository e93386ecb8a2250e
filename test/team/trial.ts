import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../../src/store/journal.ts';
import type { Ended, Product, Running } from '../bench-kit/product.ts';
import { until } from '../bench-kit/until.ts';
import type { Stage } from '../crash/stage.ts';
import { startOn } from '../crash/start.ts';
import { type Case, nameOf } from './cases.ts';
import { openTeam, type Team } from './team.ts';

/** What came of a case. */
export interface Outcome {
  readonly name: string;
  /** From the blow to Bob's first entry; undefined where there was nothing for him to do. */
  readonly handOverMs: number | undefined;
  readonly ms: number;
  /** Whether the process was there when the blow came. */
  readonly hit: boolean;
  /** Every promise that was broken, in words. */
  readonly problems: readonly string[];
}

/** A lease of the product under test. Milliseconds. */
export const LEASE_MS = 4_000;
/** Two leases, and what a process needs to start on a busy machine, which is no part of it. */
const HAND_OVER_MS = 2 * LEASE_MS + 8_000;
const LONGEST_MS = 90_000;
const ANSWERS = ['--yes', '--confirm', 'orders'] as const;

/** Ada begins, and is hit; Bob goes on from his machine. Counted by the service. */
export async function tryCase(product: Product, one: Case): Promise<Outcome> {
  const began = performance.now();
  const { work } = one;
  const team = await openTeam(product, work.taskMs === undefined ? {} : { taskMs: work.taskMs });
  try {
    const from = team.ada.bench.server.calls.length;
    const hit = Promise.withResolvers<void>();
    const ada = strikeAt(team, one, hit.resolve);
    const isHit = await Promise.race([hit.promise.then(() => true), ada.ended.then(() => false)]);
    const struck = performance.now();
    const struckAt = Date.now();
    const continued = isHit ? await strike(team, one, ada) : undefined;
    const problems: string[] = [];
    problems.push(...(await goOn(team, one, ada, struck)));
    await continued?.();
    const end = await Promise.race([ada.ended, overdue('Ada does not end')]).catch(
      (thrown) => thrown as Error,
    );
    if (end instanceof Error) problems.push(`${end.message}: ${ada.stderr().slice(-400)}`);
    problems.push(...(await judge(team, one, { from, acknowledged: acknowledgedBy(ada) })));
    const handOverMs = await handOver(team, struckAt);
    if ((handOverMs ?? 0) > HAND_OVER_MS && !isOfDatabase(one.blow))
      problems.push(`Bob gets it after ${handOverMs} ms`);
    return { name: nameOf(one), handOverMs, ms: performance.now() - began, hit: isHit, problems };
  } finally {
    await team.close();
  }
}

/** Starts what Ada does; `hit` is called when it is where the case wants it. */
export function strikeAt({ ada }: Team, { work, state, blow }: Case, hit: () => void): Running {
  const { bench, database, service, stopFile } = ada;
  const words = [...work.begin(bench), ...ANSWERS, ...(work.resumes ? ['--json'] : [])];
  const at = (type: string, how: 'held' | 'done', strike = hit) =>
    database.arm({ words: type, nth: work.nth, at: how, strike });
  const onWire = (moment: 'dropped' | 'late' | 'done') =>
    service.arm({ at: moment, words: work.request(bench), nth: 1, strike: hit });
  if (state === 'before prepare') at('intent.prepared', 'held');
  else if (state === 'prepared') at('intent.prepared', 'done');
  else if (state === 'arming') at('intent.armed', 'held');
  else if (state === 'armed') at('intent.armed', 'done');
  else if (state === 'outcome') at('intent.outcome', 'held');
  else if (state === 'outcome written') at('intent.outcome', 'done');
  // Where only the database is hit, she goes on to wait for the answer.
  else if (state === 'sent') onWire(isOfDatabase(blow) ? 'late' : 'dropped');
  else if (state === 'answer awaited') onWire('done');
  else if (state === 'connected')
    at('intent.armed', 'done', () => {
      writeFileSync(stopFile, '');
      database.release();
      void until(() => isStopped(started.child.pid), LONGEST_MS).then(hit, () => undefined);
    });
  else {
    const before = checkpointsIn(bench.home);
    at('intent.armed', 'done', () => {
      database.release();
      void until(() => checkpointsIn(bench.home) > before, LONGEST_MS).then(hit, () => undefined);
    });
  }
  const started = bench.start(...words);
  return started;
}

function isOfDatabase(blow: Case['blow']): boolean {
  return blow === 'database restarted' || blow === 'failed over';
}

/** As the kernel says it (proc_pid_stat(5)). */
function isStopped(pid: number | undefined): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

/** Does to Ada, or to the database, what the case says; gives how it ends for her. */
async function strike(team: Team, { blow }: Case, ada: Running): Promise<() => Promise<void> | void> {
  const { servers } = team;
  const { database } = team.ada;
  const signal = (name: NodeJS.Signals) => void ada.child.kill(name);
  // A process that stopped itself, to be hit at that moment, goes on, unless it is to stand still.
  const goOn = () => {
    signal('SIGCONT');
    database.release();
  };
  switch (blow) {
    case 'killed':
      signal('SIGKILL');
      return () => database.release();
    case 'stopped':
      signal('SIGSTOP');
      return goOn;
    case 'cut off':
    case 'silent':
      database.cut(blow === 'silent' ? 'silent' : undefined);
      signal('SIGCONT');
      return () => database.mend();
    case 'database restarted':
      await servers.primary.crash();
      await servers.primary.start();
      goOn();
      return () => undefined;
    default:
      await servers.primary.crash();
      await servers.promote();
      goOn();
      return () => undefined;
  }
}

/** Bob types until it is over, as a person would who learns that the run is held. */
async function goOn(
  team: Team,
  { work, blow }: Case,
  ada: Running,
  struck: number,
): Promise<readonly string[]> {
  // Where the database was hit, and not she, she may end it by herself.
  if (isOfDatabase(blow)) {
    const end = await Promise.race([ada.ended, overdue('Ada')]).catch(() => undefined);
    if (end?.code === 0) return [];
  }
  const { bench } = team.bob;
  const own = [...(work.resumes ? ['resume'] : work.begin(bench)), ...ANSWERS];
  let words: readonly string[] = own;
  const tries: string[] = [];
  let needsPerson = false;
  for (;;) {
    const end: Ended = await (needsPerson ? inTerminal(team) : bench.run(...words));
    needsPerson = work.resumes && end.code === 3 && end.stderr.includes('no flag answers this');
    words = /^lifeboat: run \w+ on orders is still open/mu.test(end.stderr) ? ['resume', ...ANSWERS] : own;
    tries.push(`${end.code}: ${lastLines(end.stderr)}`);
    if (isDone(end, work.resumes)) return [];
    if (performance.now() - struck > LONGEST_MS) return [`Bob does not end it: ${tries.join(' || ')}`];
  }
}

/** By the clock of the database, which is that of this machine. */
async function handOver({ entries }: Team, struckAt: number): Promise<number | undefined> {
  const his = (await entries()).find(({ by, at }) => by === 'Bob' && Date.parse(at) >= struckAt);
  return his === undefined ? undefined : Date.parse(his.at) - struckAt;
}

/** Bob resumes in a terminal, and decides what no flag does: he sees the service's own ledger. */
function inTerminal({ product, bob: { bench } }: Team): Promise<Ended> {
  return startOn({ product, bench, scene: { confirm: 'orders' } } as Stage, 'lines', ['resume']).ended;
}

function isDone({ code, stderr }: Ended, resumes: boolean): boolean {
  if (code === 0) return true;
  if (resumes) return code === 2 && /there is no open run|there are no runs/u.test(stderr);
  return code === 3 && /has arrived|is under way|nothing was sent/u.test(stderr);
}

/** What must hold whatever was hit. */
async function judge(
  team: Team,
  { work }: Case,
  { from, acknowledged }: { readonly from: number; readonly acknowledged: readonly Entry[] },
): Promise<readonly string[]> {
  const { ada, bob } = team;
  const sent = ada.bench.server.calls.slice(from).filter(({ method, did }) => method !== 'GET' && did);
  const counts = Map.groupBy(
    sent,
    ({ method, path }) => `${method} ${path.replace(/^.*?\/(?=backups)/u, '')}`,
  );
  const wanted =
    work.name === 'restore-backup'
      ? { backups: 2, restores: 1 }
      : work.resumes
        ? { backups: 1, restores: 0 }
        : { backups: 0, restores: 1 };
  const count = (what: (name: string) => boolean) =>
    [...counts].reduce((sum, [name, calls]) => sum + (what(name) ? calls.length : 0), 0);
  const found = {
    backups: count((name) => name.endsWith('backups')),
    restores: count((name) => name.endsWith('restore')),
  };
  const entries = await team.entries();
  const lost = acknowledged.filter(
    ({ stream, seq, hash }) =>
      !entries.some((entry) => entry.stream === stream && entry.seq === seq && entry.hash === hash),
  );
  const gaps = entries.filter(({ index }, at) => index !== at).length;
  const closed = entries.filter(({ type }) => type === 'run.closed').length;
  const audits = await Promise.all([ada, bob].map(({ bench }) => bench.run('audit', 'verify')));
  return [
    ...(found.restores === wanted.restores
      ? []
      : [`${found.restores} restores instead of ${wanted.restores}`]),
    ...(found.backups === wanted.backups ? [] : [`${found.backups} backups instead of ${wanted.backups}`]),
    ...lost.map(({ index, type }) => `acknowledged and lost: ${index} ${type}`),
    ...(gaps === 0 ? [] : [`${gaps} entries are not where they belong in the log`]),
    ...(work.resumes && closed !== 1 ? [`the run is closed ${closed} times`] : []),
    ...audits.flatMap(({ code, stdout, stderr }) =>
      code === 0 || code === 3
        ? []
        : [`the audit ends with ${code}: ${stdout.slice(-600)} ${lastLines(stderr)}`],
    ),
  ];
}

/** What her command said was on record. */
function acknowledgedBy(ada: Running): readonly Entry[] {
  return ada
    .stdout()
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Entry];
      } catch {
        return [];
      }
    })
    .filter(({ hash }) => typeof hash === 'string');
}

function checkpointsIn(home: string): number {
  const folder = join(home, 'checkpoints');
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0;
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-4).join(' | ');
}

async function overdue(what: string): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, LONGEST_MS).unref());
  throw new Error(what);
}
