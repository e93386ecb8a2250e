import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Entry } from '../../src/store/journal.ts';
import type { Call, Trouble } from '../bench-kit/foreign/call.ts';
import { openKeys } from '../bench-kit/key-store.ts';
import type { PairOptions } from '../bench-kit/postgres.ts';
import type { Product, Running } from '../bench-kit/product.ts';
import type { BenchOptions } from '../bench-kit/test-bench.ts';
import { until } from '../bench-kit/until.ts';
import { isPerform, openPlanBench, type PlanBench } from '../plans/plan-bench.ts';
import { randomFrom } from '../random.ts';
import { openTeam, type Person, type Team } from './team.ts';

/** What can happen to one of two workers, or to the database of both. */
export const BLOWS = [
  'killed',
  /** It stands still for longer than two leases, and then goes on as if nothing had been. */
  'stopped',
  /** Its connections to the database break, and none comes up. */
  'cut off',
  /** Nothing comes and nothing goes between it and the database, and no connection breaks. */
  'silent',
  'database restarted',
  /** The standby, which has every commit, becomes the primary. */
  'failed over',
] as const;
export type Blow = (typeof BLOWS)[number];

const LIMIT = 3;
const PLAN = `groups:
  - id: data
    for: { name: "db-*", target: "{name}-dr" }
    waves: [1, "100%"]
    maxConcurrency: ${LIMIT}
    steps:
      - { id: recover, runbook: disaster-recovery, onFailure: continue, because: a test, undo: none; it stays }
`;

export interface Came {
  /** How often each target was told to recover a backup, and did. */
  readonly performed: Readonly<Record<string, number>>;
  /** The most runs of the group that were at work at once. */
  readonly mostAtWork: number;
  readonly limit: number;
  /** The exit code of the audit of all entries. */
  readonly audit: number | null;
  /** The blows that fell while the plan was under way. */
  readonly fell: readonly Blow[];
}

/**
 * Two workers of a team do a plan of `count` recoveries, one of which fails and one of which loses its
 * answer, while one blow after another falls at drawn moments, each for longer than two leases of `leaseMs`.
 * Resolves when the plan is over.
 */
export async function hurtWorkers(
  product: Product,
  blows: readonly Blow[],
  { count, leaseMs, seed }: { readonly count: number; readonly leaseMs: number; readonly seed: number },
): Promise<Came> {
  await using opened = await openPlanTeam(product, count, { trouble: troubles() });
  const { team, made } = opened;
  const { ada, bob, servers } = team;
  const workers = new Map<Person, Running>();
  const begin = async (person: Person): Promise<void> => {
    // As its unit does: a worker that cannot reach the database ends, and is begun again.
    for (let tries = 0; ; tries += 1) {
      const running = person.bench.start('worker');
      workers.set(person, running);
      await until(() => running.stderr().includes('takes runs') || running.child.exitCode !== null);
      if (running.child.exitCode === null) return;
      if (tries === 5) throw new Error(`${person.name}: ${running.stderr()}`);
    }
  };
  await Promise.all([ada, bob].map(begin));
  const beginEnded = async () => {
    for (const [person, { child }] of workers)
      if (child.exitCode !== null || child.signalCode !== null) await begin(person);
  };
  await made.good('plans', 'run', 'west', '--confirm', 'data', '--detach');

  const draw = randomFrom(seed);
  const fell: Blow[] = [];
  const isOver = async () => isPlanOver(await team.entries());
  for (const blow of blows) {
    const from = made.server.calls.length + 1 + Math.floor(draw() * 10);
    const moment = Date.now() + 5_000 + draw() * 5_000;
    await until(() => made.server.calls.length >= from || Date.now() > moment);
    if (await isOver()) break;
    fell.push(blow);
    const person = draw() < 0.5 ? ada : bob;
    const running = workers.get(person);
    const lasts = (2.2 + draw()) * leaseMs;
    if (blow === 'killed') running?.child.kill('SIGKILL');
    else if (blow === 'stopped') await whileStopped(running, () => delay(lasts));
    else if (blow === 'cut off' || blow === 'silent') {
      person.database.cut(blow === 'silent' ? 'silent' : undefined);
      await delay(lasts);
      person.database.mend();
    } else if (blow === 'database restarted') {
      await servers.primary.crash();
      await servers.primary.start();
    } else {
      await servers.primary.crash();
      await servers.promote();
    }
    if (blow === 'killed') await running?.ended;
    await beginEnded();
  }
  const over = async () => {
    await beginEnded();
    await repeatWhatNeverArrived(made);
    return isOver();
  };
  await until(over, 600_000).catch(async (thrown: unknown) => {
    throw new Error(await whatStands(made, workers), { cause: thrown });
  });
  for (const { child, ended } of workers.values()) {
    child.kill('SIGTERM');
    await ended;
  }
  const { code: audit } = await made.run('audit', 'verify');
  const mostAtWork = (await made.mostAtWork())['data'] ?? 0;
  return { performed: made.performed(), mostAtWork, limit: LIMIT, audit, fell };
}

/** A team whose members can both recover every instance, and a plan `west` of `count` recoveries. */
export async function openPlanTeam(
  product: Product,
  count: number,
  { trouble, ...pair }: PairOptions & Pick<BenchOptions, 'trouble'> = {},
): Promise<{ readonly team: Team; readonly made: PlanBench } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  let team: Team | undefined;
  const made = await openPlanBench(
    async (options) => {
      team = await openTeam(product, options, pair);
      opened.defer(() => team?.close());
      return team.ada.bench;
    },
    count,
    trouble === undefined ? {} : { trouble },
  );
  if (team === undefined) throw new Error('there is no team');
  made.plan('west', PLAN);
  await share(team);
  const kept = opened.move();
  return { team, made, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** The first recovery of one target fails, and the answer of another is lost although the work is done. */
function troubles(): (call: Call) => Trouble | undefined {
  const fails = new Set(['db-2-dr']);
  const loses = new Set(['db-4-dr']);
  return (call) => {
    if (!isPerform(call) || call.instance === undefined) return undefined;
    if (fails.delete(call.instance)) return { task: { fails: true } };
    return loses.delete(call.instance) ? { answer: 'lost' } : undefined;
  };
}

/** Bob gets the config, the plans, the keys and the recovery cards that Ada has. */
async function share({ ada, bob }: Team): Promise<void> {
  const [from, to] = [ada, bob].map(({ bench }) => bench.env['LIFEBOAT_CONFIG'] ?? '') as [string, string];
  const text = readFileSync(from, 'utf8');
  writeFileSync(
    to,
    text
      .replaceAll(ada.service.address, bob.service.address)
      .replace('operator: { name: Ada }', 'operator: { name: Bob }')
      .replaceAll('file: ./token', `file: ${bob.bench.tokenFile}`),
  );
  cpSync(join(ada.bench.folder, 'plans'), join(bob.bench.folder, 'plans'), { recursive: true });
  const keys = await openKeys(ada.bench.home);
  await (await openKeys(bob.bench.home)).takeBundle(await keys.bundle());
}

async function whileStopped(running: Running | undefined, wait: () => Promise<void>): Promise<void> {
  running?.child.kill('SIGSTOP');
  await wait();
  running?.child.kill('SIGCONT');
}

/** What a person sees of a plan that does not end, and the last words of its workers. */
async function whatStands({ run }: PlanBench, workers: ReadonlyMap<Person, Running>): Promise<string> {
  const { stdout, stderr } = await run('plans', 'show', 'last');
  const said = [...workers].map(([{ name }, worker]) => `${name}: ${worker.stderr().slice(-2_000)}`);
  return ['the plan does not end', stdout, stderr, ...said].join('\n');
}

/** A process that died before its call left leaves a recovery that never arrived: a person repeats it. */
export async function repeatWhatNeverArrived({ run }: PlanBench): Promise<void> {
  const { stdout } = await run('plans', 'show', 'last', '--json');
  if (stdout === '') return;
  const { lanes } = JSON.parse(stdout) as {
    readonly lanes: readonly Readonly<Record<'state' | 'instance' | 'step', string> & { asks?: string }>[];
  };
  // One that asks nothing goes on with the plan.
  for (const { state, instance, step, asks } of lanes)
    if (state === 'waiting' && step === 'recover' && asks !== undefined)
      await run('plans', 'retry', 'last', `data/${instance}/recover`);
}

/** Whether the run of the plan has ended, by the entries of the whole store. */
export function isPlanOver(entries: readonly Entry[]): boolean {
  const begun = entries.find(
    ({ type, body }) => type === 'run.started' && (body as { readonly runbook?: string }).runbook === 'plan',
  );
  return entries.some(({ type, stream }) => type === 'run.closed' && stream === begun?.stream);
}
