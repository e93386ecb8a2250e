import type { PlanInput } from '../../../machines/parts/plan.ts';
import type { PlanContext } from '../../../machines/plan.ts';
import { planRunbook } from '../../../machines/plan-runbook.ts';
import { planFacts } from '../../plans/facts.ts';
import { isStopped } from '../../plans/standing.ts';
import { type Folded, fold, foldOn } from '../../runner/fold.ts';
import type { Run } from '../../runner/run.ts';
import { inputOf } from '../../runner/run-log.ts';
import { workersOf } from '../../runner/wakes.ts';
import type { JournalReader } from '../../store/journal.ts';
import type { ForWorkers } from '../../store/run-entries.ts';

export interface PlanRecord {
  readonly input: PlanInput;
  readonly workers: ForWorkers | undefined;
  readonly context: PlanContext;
  /** Whether a group was stopped, or stops. */
  readonly isStopped: (group: string) => boolean;
}

interface Known {
  readonly input: PlanInput;
  readonly workers: ForWorkers | undefined;
  seq: number;
  folded: Folded;
}

/** A worker meets the children of few plans at a time. */
const KEPT = 8;

/** The records of plans, of which each look reads only what is new. */
export class PlanRecords {
  readonly #journal: Pick<JournalReader, 'read'>;
  readonly #known = new Map<string, Known>();
  readonly #driven = new Map<string, Pick<Run, 'state' | 'holds'>>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(journal: Pick<JournalReader, 'read'>) {
    this.#journal = journal;
  }

  /** This process drives the plan, up to the call of what this returns: its record is not kept twice. */
  drives(runId: string, run: Pick<Run, 'state' | 'holds'>): () => void {
    this.#driven.set(runId, run);
    this.#known.delete(runId);
    return () => void this.#driven.delete(runId);
  }

  /** Rejects with the journal's errors. */
  of(runId: string): Promise<PlanRecord> {
    const found = this.#turn.then(() => this.#read(runId));
    this.#turn = found.catch(() => undefined);
    return found;
  }

  async #read(runId: string): Promise<PlanRecord> {
    const driven = this.#driven.get(runId);
    // Once its hold is lost, another process may have written to it.
    if (driven?.holds.every(({ lost }) => !lost.aborted)) {
      const { entries, snapshot } = driven.state();
      const input = inputOf(entries) as unknown as PlanInput;
      return recordOf({ input, workers: workersOf(entries) }, snapshot);
    }
    const known = this.#known.get(runId);
    const entries = await this.#journal.read(`run/${runId}`, (known?.seq ?? 0) + 1);
    const now = known ?? this.#begin(runId, entries);
    if (known !== undefined && entries.length > 0) {
      known.folded = foldOn(planRunbook, known.folded, entries);
      known.seq += entries.length;
    }
    return recordOf(now, now.folded.snapshot);
  }

  #begin(runId: string, entries: Parameters<typeof inputOf>[0]): Known {
    const input = inputOf(entries) as unknown as PlanInput;
    const folded = fold(planRunbook, input as never, entries);
    const known = { input, workers: workersOf(entries), seq: entries.length, folded };
    this.#known.set(runId, known);
    for (const id of [...this.#known.keys()].slice(0, -KEPT)) this.#known.delete(id);
    return known;
  }
}

function recordOf(
  { input, workers }: Pick<Known, 'input' | 'workers'>,
  snapshot: Folded['snapshot'],
): PlanRecord {
  const context = snapshot.context as PlanContext;
  const states = planFacts(snapshot, [], Date.now())?.records ?? {};
  return { input, workers, context, isStopped: (id) => isStopped(context.groups[id], states[id]?.state) };
}
