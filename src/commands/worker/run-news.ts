import { dirname } from 'node:path';
import { approvalPaths, readIfThere } from '../../approvals/approval-files.ts';
import { requestStateOf } from '../../approvals/request-state.ts';
import { namesIn } from '../../base/bounded-file.ts';
import { msOf } from '../../base/instant.ts';
import type { Workspace } from '../../compose/workspace.ts';
import { childrenOf } from '../../store/projections/plan-children.ts';
import type { RunProgress } from '../../store/projections/runs.ts';

interface Place extends Pick<Workspace, 'home'> {
  readonly journal: Pick<Workspace['journal'], 'read' | 'rows' | 'streams'>;
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

  constructor(place: Place) {
    this.#place = place;
  }

  /**
   * Those of these runs for which something has happened since at most `marginMs` before they were left;
   * `openRuns` gives the progress of all open runs, and is asked only for plans. Rejects with the errors of
   * the journal, and with `approval.refused` for a signature that is no file.
   */
  async among(
    runs: readonly RunProgress[],
    openRuns: () => Promise<readonly RunProgress[]>,
    marginMs: number,
  ): Promise<ReadonlySet<string>> {
    const plans = runs.filter(({ runbook }) => runbook === 'plan');
    const found = plans.length === 0 ? [] : await this.#plansAmong(plans, await openRuns(), marginMs);
    for (const run of runs) if (run.runbook !== 'plan' && (await this.#isSigned(run))) found.push(run.runId);
    return new Set(found);
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

  async #isSigned({ runId }: RunProgress): Promise<boolean> {
    const { journal, home } = this.#place;
    const folder = dirname(approvalPaths(home, runId, ANY).signature);
    if (!namesIn(folder).some((name) => name.endsWith('.sig'))) return false;
    const { asked } = requestStateOf(await journal.read(`run/${runId}`));
    if (asked === undefined) return false;
    return readIfThere(approvalPaths(home, runId, asked.challenge).signature) !== undefined;
  }
}
