import { dirname } from 'node:path';
import { approvalPaths, readIfThere, stampOf } from '../../approvals/approval-files.ts';
import { requestStateOf } from '../../approvals/request-state.ts';
import { namesIn } from '../../base/bounded-file.ts';
import { failureOf } from '../../base/errors.ts';
import { msOf } from '../../base/instant.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunProgress } from '../../store/projections/runs.ts';

interface Place extends Pick<Workspace, 'home'> {
  readonly journal: Pick<Workspace['journal'], 'read' | 'rows' | 'streams'>;
  /** Gets a signature that cannot be read: it is no news, and holds up no other run. */
  readonly say: (runId: string, text: string) => void;
}

/** Any name that a request may have: only its folder is asked for. */
const ANY = '0'.repeat(16);

/**
 * News for runs that wait for a person: for a plan a decision or a moved child, for others a signature in
 * this home. Asks about all at once, and reads a journal only where news is possible.
 */
export class RunNews {
  readonly #place: Place;
  /** What a plan's record looked like when it held no news. */
  readonly #quiet = new Map<string, string>();
  /** The signatures with which runs were driven: they waited for a person again. */
  readonly #tried = new Map<string, string>();
  readonly #unread = new Map<string, string>();

  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * Those of these runs for which something has happened since at most `marginMs` before they were left;
   * `openRuns` gives the progress of all open runs, and is asked only for plans. Rejects with the errors of
   * the journal.
   */
  async among(
    runs: readonly RunProgress[],
    openRuns: () => Promise<readonly RunProgress[]>,
    marginMs: number,
  ): Promise<ReadonlySet<string>> {
    const plans = runs.filter(({ runbook }) => runbook === 'plan');
    const found = plans.length === 0 ? [] : await this.#plansAmong(plans, await openRuns(), marginMs);
    for (const { runId, runbook } of runs) {
      const signed = runbook === 'plan' ? undefined : await this.#signed(runId);
      if (signed !== undefined && signed !== this.#tried.get(runId)) found.push(runId);
    }
    return new Set(found);
  }

  /**
   * Notes what is signed now, before the run is taken up for it. Call the result when the run was driven: if
   * it waits for a person still, the same signature is no news, or the run would be taken up for ever.
   */
  async noted({ runId, runbook }: RunProgress): Promise<() => void> {
    const signed = runbook === 'plan' ? undefined : await this.#signed(runId);
    return () => {
      if (signed !== undefined) this.#tried.set(runId, signed);
    };
  }

  async #plansAmong(
    plans: readonly RunProgress[],
    open: readonly RunProgress[],
    marginMs: number,
  ): Promise<string[]> {
    const wishes = new Map(
      (await this.#place.journal.streams('plan/')).map((head) => [head.stream, head.seq]),
    );
    const openOf = Map.groupBy(open, ({ planRun }) => planRun);
    const found: string[] = [];
    for (const plan of plans) {
      const children = openOf.get(plan.runId) ?? [];
      const moved = children.reduce((last, { lastAt }) => (lastAt > last ? lastAt : last), '');
      // A child that ends leaves the open ones, and one begins only where the plan itself goes on.
      const stamp = [
        plan.lastAt,
        wishes.get(`plan/${plan.runId}`) ?? 0,
        children.length,
        moved,
        marginMs,
      ].join();
      if (this.#quiet.get(plan.runId) === stamp) continue;
      const since = msOf(plan.lastAt) - marginMs;
      if (msOf(moved) > since || (await this.#hasChanged(plan.runId, since))) found.push(plan.runId);
      else this.#quiet.set(plan.runId, stamp);
    }
    const isOpen = new Set(open.map(({ runId }) => runId));
    for (const runId of this.#quiet.keys()) if (!isOpen.has(runId)) this.#quiet.delete(runId);
    return found;
  }

  async #hasChanged(planRun: string, since: number): Promise<boolean> {
    const wishes = await this.#place.journal.read(`plan/${planRun}`);
    if (msOf(wishes.at(-1)?.at) > since) return true;
    const children = await childrenOf(this.#place.journal, planRun);
    return children.some(({ endedAt }) => msOf(endedAt) > since);
  }

  /** A stamp of the signature of its current request; undefined without one. */
  async #signed(runId: string): Promise<string | undefined> {
    const { journal, home, say } = this.#place;
    const folder = dirname(approvalPaths(home, runId, ANY).signature);
    if (!namesIn(folder).some((name) => name.endsWith('.sig'))) return undefined;
    const { asked } = requestStateOf(await journal.read(`run/${runId}`));
    if (asked === undefined) return undefined;
    const { signature } = approvalPaths(home, runId, asked.challenge);
    try {
      return readIfThere(signature) === undefined ? undefined : stampOf([signature]);
    } catch (thrown) {
      const { shortMessage } = failureOf(thrown);
      if (this.#unread.get(runId) !== shortMessage) say(runId, shortMessage);
      this.#unread.set(runId, shortMessage);
      return undefined;
    }
  }
}
