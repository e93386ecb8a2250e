import type { Entry } from '../../src/journal/journal.ts';
import type { Run } from '../../src/runner/run.ts';
import type { Case } from './cases.ts';
import type { Certificates } from './certificates.ts';
import { AT_CONNECT, type Fault } from './faults.ts';
import { byPerson } from './person.ts';
import { openSite, type Site } from './site.ts';
import { byFlags } from './stage.ts';
import type { Verdict } from './table.ts';
import { setOut } from './walk.ts';

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
  readonly doubled: boolean;
  readonly strayed: boolean;
}

const DESIGNED: readonly number[] = [0, 1, 2, 3, 4, 5, 130];
/** Leaves a run that waits for what never comes: longer than the product's own patience. */
const WAITS_MS = 360_000;
/** Leaves any other that has stood still for so long: no step that ends takes longer, on a busy machine either. */
const STANDS_MS = 1_500_000;
const ENDLESS: ReadonlySet<Fault> = new Set<Fault>(['task-stuck', 'unknown-enum']);
/** A walk may take so long, by the fast clock: nothing that the product waits for adds up to it. */
const HANG_MS = 6_000_000;

/** Walks a flow into a fault, and then, everything well again, to its end. */
export async function tryCase(one: Case, certificates: Certificates): Promise<Finding> {
  const { flow, plan } = one;
  const site = await openSite({ ...flow, certificates, plan });
  const { stage, begun } = await setOut(site, flow);
  const finding = { case: one, crashed: undefined, hung: false, lost: false, resumed: 'needs none' };
  try {
    let closed = false;
    const first = await stage.drive(begun, (run) =>
      withLimit(run, async () => {
        const end = await byFlags(flow, begun, {
          patienceMs: ENDLESS.has(plan.fault) ? WAITS_MS : STANDS_MS,
        })(run);
        closed = run.state().entries.some(({ type }) => type === 'run.closed');
        return { ...end, entries: run.state().entries, state: JSON.stringify(run.state().snapshot.value) };
      }),
    );
    if (first === 'hung')
      return { ...finding, ...whole(one, site), verdict: 'missed', exitCode: -1, where: 'hung', hung: true };
    const verdict = verdictOf(one, site, first);
    const undesigned = DESIGNED.includes(first.exitCode) ? undefined : `exit code ${first.exitCode}`;
    const common = {
      ...finding,
      verdict,
      exitCode: first.exitCode,
      where: `${first.state} ${first.why ?? ''}`,
      crashed: undesigned,
    };
    await site.director.calm();
    if (closed) return { ...common, ...whole(one, site) };
    const resumed = await stage.drive(begun, (run) => withLimit(run, () => byPerson(run, site)));
    if (resumed === 'hung') return { ...common, ...whole(one, site), hung: true, resumed: 'hung' };
    const lost = resumed.how !== 'ended';
    return {
      ...common,
      ...whole(one, site),
      lost,
      resumed: `${resumed.how} ${resumed.exitCode} ${resumed.at}`,
    };
  } catch (thrown) {
    const crashed = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    return { ...finding, ...whole(one, site), verdict: 'missed', exitCode: -1, where: 'crashed', crashed };
  } finally {
    await stage.close();
    await site.close();
  }
}

async function withLimit<Left>(run: Run, walk: () => Promise<Left>): Promise<Left | 'hung'> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<'hung'>((resolve) => {
    timer = setTimeout(() => resolve('hung'), HANG_MS);
  });
  const left = await Promise.race([walk(), limit]).finally(() => clearTimeout(timer));
  if (left === 'hung') await run.detach();
  return left;
}

interface Left {
  readonly exitCode: number;
  readonly why: string | undefined;
  readonly entries: readonly Entry[];
}

function verdictOf({ plan, kind }: Case, site: Site, { exitCode, why, entries }: Left): Finding['verdict'] {
  const { director } = site;
  if (director.hits === 0) return 'missed';
  if (exitCode === 4) return 'token';
  if (exitCode === 5) return 'doubt';
  if (kind !== 'list' && wasInDoubt(entries)) return 'doubt';
  if (exitCode === 3) return why?.startsWith('nothing has moved') ? 'wait' : 'ask';
  if (exitCode !== 0) return 'failed';
  const hit = director.seen.findIndex(({ fault }) => fault !== undefined);
  const at = director.seen[hit]?.at;
  const isAgain = director.seen
    .slice(hit + 1)
    // Another way to the same bytes is another try.
    .some(
      (one) =>
        (one.route === plan.route || kind === 'download') &&
        one.at?.verb === at?.verb &&
        one.at?.turn === at?.turn,
    );
  if (!AT_CONNECT.has(plan.fault) && !isAgain) return 'on';
  return kind === 'poll' ? 'wait' : 'retry';
}

/** An answer was lost. That a restore to a time names no restore is no loss. */
function wasInDoubt(entries: readonly Entry[]): boolean {
  return entries.some(({ type, body }) => {
    const { sent, verb, failure } = body as { sent?: string; verb?: string; failure?: { code: string } };
    if (type !== 'intent.outcome' || sent !== 'unknown') return false;
    return verb !== 'restoreToTime' || failure?.code !== 'service.no-id';
  });
}

/** What must hold whatever the verdict is. */
function whole({ plan, kind, effects }: Case, site: Site): Pick<Finding, 'doubled' | 'strayed'> {
  // A task that failed is begun anew by a person; and a key that was not set after all shows in a backup, which is followed by another.
  const allowed = plan.fault === 'task-failed' || kind === 'repeatable' ? 1 : 0;
  const now = effectsOn(site);
  const doubled = [...now].some(([what, count]) => count > (effects.get(what) ?? 0) + allowed);
  return { doubled, strayed: site.strayed() > 0 };
}

/** How often each thing was done that must not be done twice, by those who do it. */
export function effectsOn({ server, capi }: Site): ReadonlyMap<string, number> {
  const effects = new Map<string, number>();
  const add = (what: string) => effects.set(what, (effects.get(what) ?? 0) + 1);
  for (const { method, path, did } of server.calls) {
    const isRepeatable = /\/(?:backups-config|broker\/edit|prepare|download)$/u.test(path);
    if (method !== 'GET' && did && !isRepeatable) add(`${method} ${path}`);
  }
  for (const { method, path, answered } of capi?.wishes ?? []) {
    if (
      path.includes('credential_bindings') &&
      method !== 'PATCH' &&
      answered !== undefined &&
      Number(answered) < 300
    )
      add(`${method} ${path}`);
  }
  return effects;
}
