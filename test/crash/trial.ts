import { auditVerify } from '../../src/evidence/audit.ts';
import type { Entry } from '../../src/journal/journal.ts';
import type { Call, Trouble } from '../e2e/foreign/call.ts';
import { ANSWERED, CANARIES, type House, openHouse, ROTATE } from '../e2e/house.ts';
import type { Ended, Product, Running } from '../e2e/product.ts';

/** When the process is killed for the first time. */
export type Point =
  /** So long after its start. */
  | { readonly kind: 'instant'; readonly ms: number }
  /** When one of its threads asks the disk for the n-th time to keep what was written; needs strace(1). */
  | { readonly kind: 'sync'; readonly nth: number }
  /** When the n-th request that changes something has arrived, before it is answered; then this becomes of the request. */
  | { readonly kind: 'request'; readonly nth: number; readonly then: 'done' | 'dropped' | 'late' };

export interface Trial {
  readonly point: Point;
  /** False when the run was over before the point came. */
  readonly hit: boolean;
  readonly kills: number;
  readonly resumes: number;
  /** How long the first process lived. Milliseconds. */
  readonly firstMs: number;
  /** What the journal said last when the first kill came: which moments a sweep has met. */
  readonly where: string;
  /** More than one key was sent, or more requests for a backup than intents. */
  readonly doubled: boolean;
  /** A key that the service was given is not in the vault, or the old one is gone. */
  readonly lostKey: boolean;
  /** Every promise that was broken, in words. Empty: the trial went well. */
  readonly problems: readonly string[];
}

const SETTLE = '1s';
const LATE_MS = 600;
/** Done before it is first asked for, so that waiting is not where most of the time goes. */
const TASK_MS = 1;
const MOST_RESUMES = 12;

/**
 * One rotation whose process is killed at `point`, then resumed until it is over; each resume may be killed too, as `chance` says
 * (a number in [0, 1) each time it is asked). The verdict comes from what the service saw, from the journal and from the vault.
 */
export async function runTrial(
  product: Product,
  point: Point,
  chance: () => number,
  spanMs: number,
): Promise<Trial> {
  const killed = { running: undefined as Running | undefined, count: 0 };
  const trouble = (call: Call) => troubleAt(call, point, house, killed);
  const house = await openHouse(product, { settle: SETTLE, taskMs: TASK_MS, trouble });
  try {
    const began = performance.now();
    const first = startFirst(house, point);
    killed.running = first;
    if (point.kind === 'instant') killAfter(first, point.ms);
    const firstEnd = await first.ended;
    const firstMs = performance.now() - began;
    const hit = firstEnd.code === null;
    const { where, unreadable } = await lookAfterKill(house);
    const { end, resumes, kills } = hit
      ? await resume(house, chance, spanMs)
      : { end: firstEnd, resumes: 0, kills: 0 };
    const verdict = await judge(house, end);
    const problems = [...unreadable, ...verdict.problems];
    return { point, hit, where, firstMs, resumes, kills: kills + (hit ? 1 : 0), ...verdict, problems };
  } finally {
    await house.close();
  }
}

function startFirst(house: House, point: Point): Running {
  if (point.kind !== 'sync') return house.start(...ROTATE, ...ANSWERED);
  const inject = `inject=fsync,fdatasync:signal=SIGKILL:when=${point.nth}`;
  const strace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync', '-e', inject];
  return house.startUnder(strace, ...ROTATE, ...ANSWERED);
}

/** Answers to changes take a moment, so that there is time to die in between. */
function troubleAt(
  call: Call,
  point: Point,
  house: House,
  killed: { readonly running: Running | undefined; count: number },
): Trouble | undefined {
  if (call.method === 'GET') return undefined;
  const nth = house.server.calls.filter(({ method }) => method !== 'GET').length;
  if (point.kind !== 'request' || nth !== point.nth || killed.count > 0) return { answerAfterMs: 40 };
  killed.count += 1;
  killed.running?.child.kill('SIGKILL');
  if (point.then === 'late') return { workAfterMs: LATE_MS, answer: 'lost' };
  return { work: point.then === 'done', answer: 'lost' };
}

function killAfter({ child, ended }: Running, ms: number): void {
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  void ended.finally(() => clearTimeout(timer));
}

/** Does what an operator would: resumes, or begins when there is nothing to resume. One process in four is killed as well. */
async function resume(house: House, chance: () => number, spanMs: number) {
  let command: readonly string[] = ['resume'];
  for (let [resumes, kills] = [1, 0]; ; resumes += 1) {
    const running = house.start(...command, ...ANSWERED);
    if (chance() < 0.25) killAfter(running, chance() * spanMs);
    const end = await running.ended;
    if (end.code === null) kills += 1;
    const isNothingOpen = end.code === 2 && end.stderr.includes('there is no open run');
    // Killed after its last entry: there is nothing left to do. Killed before its first: it is begun anew.
    if (isNothingOpen && isClosed(await entriesOf(house)))
      return { end: { ...end, code: 0 }, resumes, kills };
    if (isNothingOpen) command = ROTATE;
    else if (end.code !== null || resumes === MOST_RESUMES) return { end, resumes, kills };
    else command = ['resume'];
  }
}

async function judge(house: House, end: Ended): Promise<Pick<Trial, 'doubled' | 'lostKey' | 'problems'>> {
  const { calls, keys, backups } = house.server;
  const entries = await entriesOf(house);
  const patches = calls.filter(({ method }) => method === 'PATCH');
  const posts = calls.filter(({ method }) => method === 'POST');
  const armed = new Set(entries.filter(({ type }) => type === 'intent.armed').map(intentOf)).size;
  const absent = entries.filter(({ body }) => (body as { verdict?: string }).verdict === 'absent').length;
  const distinctKeys = new Set(patches.map(({ key }) => key)).size;
  const vault = new Set((await house.vault()).values());
  const closed = entries.find(({ type }) => type === 'run.closed')?.body as { proven?: boolean } | undefined;
  const audit = await auditVerify({ home: house.home });

  const doubled = distinctKeys > 1 || posts.length > armed || (absent === 0 && posts.length > 1);
  const lostKey = !vault.has(CANARIES.oldKey) || keys.some((key) => !vault.has(key));
  const promises: readonly (readonly [boolean, string])[] = [
    [end.code === 0, `it ended with ${end.code}: ${end.stderr.split('\n').slice(-8).join(' | ')}`],
    [
      !doubled,
      `sent twice: ${distinctKeys} keys, ${posts.length} requests for ${armed} intents, ${absent} absent`,
    ],
    [distinctKeys === 1, `${distinctKeys} keys were set`],
    [posts.length >= 1, 'no backup was asked for'],
    [
      posts.filter(({ did }) => did).length === backups.length - 1,
      'the ledger and the list of backups disagree',
    ],
    [!lostKey, `a key is lost: the vault holds ${vault.size}`],
    [closed?.proven === true, 'the run is not closed as proven'],
    [audit.ok, `the audit finds: ${audit.findings.map(({ shortMessage }) => shortMessage).join('; ')}`],
  ];
  return { doubled, lostKey, problems: promises.filter(([kept]) => !kept).map(([, words]) => words) };
}

/** The journal as it lies there; a process that was killed early leaves none. */
async function entriesOf(house: House): Promise<readonly Entry[]> {
  return house.entries().catch((thrown: { code?: string }) => {
    if (thrown.code === 'journal.none') return [];
    throw thrown;
  });
}

function intentOf({ body }: Entry): unknown {
  return (body as { intent?: unknown }).intent;
}

function isClosed(entries: readonly Entry[]): boolean {
  return entries.some(({ type }) => type === 'run.closed');
}

/** What `lifeboat runs` and `lifeboat audit` would meet, right after the kill. */
async function lookAfterKill(house: House): Promise<{ where: string; unreadable: readonly string[] }> {
  try {
    return { where: lastWords(await entriesOf(house)), unreadable: [] };
  } catch (thrown) {
    return { where: 'unreadable', unreadable: [`after the kill nothing can be read: ${String(thrown)}`] };
  }
}

function lastWords(entries: readonly Entry[]): string {
  const last = entries.filter(({ stream }) => stream.startsWith('run/')).at(-1);
  if (last === undefined) return 'nothing';
  const { activity, verb, to } = last.body as { activity?: string; verb?: string; to?: string };
  return [last.type, activity ?? verb ?? to].filter((word) => word !== undefined).join(' ');
}
