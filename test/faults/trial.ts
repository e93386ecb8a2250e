import { statePath } from '../../machines/parts/states.ts';
import type { Run } from '../../src/runner/run.ts';
import type { Entry } from '../../src/store/journal.ts';
import type { Case } from './cases.ts';
import type { Certificates } from './certificates.ts';
import { AT_THE_END } from './director.ts';
import { AT_CONNECT, type Fault, HARMLESS } from './faults.ts';
import { ASKS, WAITED } from './kinds.ts';
import { effectsOn, openPeers, type Peers } from './peers.ts';
import { byPerson } from './person.ts';
import { countOf, type Seen } from './seen.ts';
import { beginFlow, byFlags, type Opened } from './stage.ts';
import type { Verdict } from './table.ts';
import { allowedMore, claimsAtEnd, claimsOf, wasInDoubt } from './verdict.ts';

/** What one case came to. */
export interface Finding {
  readonly case: Case;
  readonly verdict: Verdict | 'missed';
  readonly exitCode: number;
  /** Where it was left, or why. */
  readonly where: string;
  /** Where the run came to when everything was well again. */
  readonly resumed: string;
  readonly crashed: string | undefined;
  readonly hung: boolean;
  readonly lost: boolean;
  /** What was done more often than it may be. */
  readonly doubled: readonly string[];
  /** What was said or left out that is not true of the service. */
  readonly claims: readonly string[];
  readonly strayed: boolean;
}

const DESIGNED: readonly number[] = [0, 1, 2, 3, 4, 5, 130];
/** Leaves a run that waits for what never comes: longer than the product's own patience. */
const WAITS_MS = 360_000;
/**
 * Leaves any other that has stood still for so long: no step that ends takes longer, on a busy machine
 * either.
 */
const STANDS_MS = 1_500_000;
const ENDLESS: ReadonlySet<Fault> = new Set<Fault>(['task-stuck', 'unknown-enum']);
/** The longest that a run may take, by the fast clock: nothing that the product waits for adds up to it. */
const HANG_MS = 6_000_000;

/**
 * A restart and a recreate show only while they are under way, and a restore without an id by what it is: so
 * long that none of them is over when it is looked for. An update shows when it is over.
 */
const SLOW_MS = 30_000;

/** Runs a flow with a fault, then resumes it without faults to its end. */
export async function tryCase(one: Case, certificates: Certificates): Promise<Finding> {
  const { flow, kind, plan } = one;
  const verb = plan.at?.verb;
  const isNameless = kind === 'others' && flow.name.startsWith('restore-point');
  const isShort =
    isNameless || kind === 'no-trace' || (kind === 'look' && verb === 'restart') || verb === 'restoreToTime';
  const taskMs = isShort ? { taskMs: SLOW_MS } : {};
  const peers = await openPeers({ ...flow, ...taskMs, certificates, plan });
  let opened: Opened | undefined;
  let entries: () => readonly Entry[] = () => [];
  const finding = { case: one, crashed: undefined, hung: false, lost: false, resumed: 'needs none' };
  try {
    opened = await beginFlow(peers, flow);
    const { stage, begun } = opened;
    let closed = false;
    let early: readonly string[] = [];
    const first = await stage.drive(begun, (run) => {
      entries = () => run.state().entries;
      return withLimit(run, async () => {
        const end = await byFlags(flow, begun, {
          patienceMs: ENDLESS.has(plan.fault) ? WAITS_MS : STANDS_MS,
        })(run);
        closed = run.state().entries.some(({ type }) => type === 'run.closed');
        const isUnderWay = peers.server.instances.some((of) => of.restores.some(({ isOver }) => !isOver));
        early = closed && isUnderWay ? ['that it is over while a restore is under way'] : [];
        const { entries, snapshot } = run.state();
        const isFailed = snapshot.hasTag('failed' as never);
        return { ...end, entries, isFailed, state: statePath(snapshot) };
      });
    });
    if (first === 'hung')
      return {
        ...finding,
        ...whole(one, peers, entries()),
        verdict: 'missed',
        exitCode: -1,
        where: 'hung',
        hung: true,
      };
    const verdict = verdictOf(one, peers, first);
    const undesigned = DESIGNED.includes(first.exitCode) ? undefined : `exit code ${first.exitCode}`;
    const common = {
      ...finding,
      verdict,
      exitCode: first.exitCode,
      where: `${first.state} ${first.why ?? ''}`,
      crashed: undesigned,
    };
    await peers.director.calm();
    if (closed) {
      const { claims, ...rest } = whole(one, peers, entries());
      return {
        ...common,
        ...rest,
        claims: [...claims, ...claimsAtEnd(one, entries()), ...early],
      };
    }
    const resumed = await stage.drive(begun, (run) => {
      entries = () => run.state().entries;
      return withLimit(run, () => byPerson(run, peers));
    });
    if (resumed === 'hung')
      return { ...common, ...whole(one, peers, entries()), hung: true, resumed: 'hung' };
    const lost = resumed.how !== 'ended';
    return {
      ...common,
      ...whole(one, peers, entries()),
      lost,
      resumed: `${resumed.how} ${resumed.exitCode} ${resumed.at}`,
    };
  } catch (thrown) {
    const crashed = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    return {
      ...finding,
      ...whole(one, peers, entries()),
      verdict: 'missed',
      exitCode: -1,
      where: 'crashed',
      crashed,
    };
  } finally {
    await opened?.stage.close();
    await peers.close();
  }
}

async function withLimit<Left>(run: Run, steer: () => Promise<Left>): Promise<Left | 'hung'> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<'hung'>((resolve) => {
    timer = setTimeout(() => resolve('hung'), HANG_MS);
  });
  const left = await Promise.race([steer(), limit]).finally(() => clearTimeout(timer));
  if (left === 'hung') await run.detach();
  return left;
}

interface Left {
  readonly exitCode: number;
  readonly why: string | undefined;
  readonly entries: readonly Entry[];
  /** Whether it was left at the question of a step that has failed. */
  readonly isFailed: boolean;
}

function verdictOf(one: Case, peers: Peers, { exitCode, why, entries, isFailed }: Left): Finding['verdict'] {
  const { kind } = one;
  if (peers.director.hits === 0) return 'missed';
  if (exitCode === 4) return 'token';
  if (exitCode === 5) return 'doubt';
  if (!ASKS.has(kind) && wasInDoubt(entries)) return 'doubt';
  if (exitCode === 3 && !isFailed) return why?.startsWith('nothing has moved') ? 'wait' : 'ask';
  if (exitCode !== 0) return 'failed';
  if (!wasAskedAgain(one, peers)) return 'on';
  return WAITED.has(kind) ? 'wait' : 'retry';
}

/** Whether a step asked once more, after the fault, for what it asks for anyway. */
function wasAskedAgain({ plan, kind, usual }: Case, { director }: Peers): boolean {
  const isOfStep = ({ at }: Seen) => at?.verb === plan.at?.verb && at?.turn === plan.at?.turn;
  // What is not over is looked at again, whatever the answer was like.
  if (HARMLESS.has(plan.fault))
    return !WAITED.has(kind) && !ASKS.has(kind) && countOf(director.seen, plan) > usual;
  const after = director.seen.slice(director.seenBefore).filter(isOfStep);
  // Another way to the same bytes is another try.
  if (kind === 'download' || kind === 'only-download') return after.length > 0;
  const same = after.filter(({ route }) => route === plan.route);
  // The list that was read to see how long others took may come after the end as well: once.
  if (plan.fault === 'unknown-enum' && plan.route.endsWith(AT_THE_END)) return same.length > 1;
  // What a lost answer came to is asked until it shows, however often that is.
  if (WAITED.has(kind) || ASKS.has(kind) || AT_CONNECT.has(plan.fault)) return same.length > 0;
  return countOf(director.seen, plan) > usual;
}

/** What must hold whatever the verdict is. */
function whole(
  one: Case,
  peers: Peers,
  entries: readonly Entry[],
): Pick<Finding, 'doubled' | 'claims' | 'strayed'> {
  const effects = effectsOn(peers);
  const doubled = [...effects].flatMap(([what, count]) =>
    count > (one.effects.get(what) ?? 0) + allowedMore(one, what, entries) ? [what] : [],
  );
  return { doubled, claims: claimsOf(one, effects, entries), strayed: peers.strayed() > 0 };
}
