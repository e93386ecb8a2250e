import { formatTime } from '../base/format.ts';
import { growing } from '../store/growing.ts';
import type { Entry } from '../store/journal.ts';
import { promisedBy } from '../store/promised.ts';
import { sentenceOf } from '../store/sentence.ts';
import type { LogLine } from './run-view.ts';

/**
 * What the view shows of the entries of a run. A screen asks many times a second, so each entry is read once.
 */
export interface RunRecord {
  /** The first entry, and what it says that sets limits. */
  readonly started: Entry | undefined;
  readonly promised: ReturnType<typeof promisedBy>;
  /** Every state that the run has been in, each once, by its last visit. */
  readonly states: ReadonlySet<string>;
  /** The newest lines of the log; more than are shown. */
  readonly log: readonly LogLine[];
  /** What the record says of second people, in order. */
  readonly approvals: readonly Entry[];
}

/** How many lines of the log are shown. */
export const LOG_LINES = 200;
const NOISE: ReadonlySet<string> = new Set(['activity.begun', 'intent.prepared']);

/** The entries of a run as the view needs them: of entries that grow only the new ones are read. */
export const recordOf: (entries: readonly Entry[]) => RunRecord = growing<Draft>(
  () => ({ started: undefined, promised: { from: undefined }, states: new Set(), log: [], approvals: [] }),
  (record, entry) => {
    if (record.started === undefined) {
      record.started = entry;
      record.promised = promisedBy(entry);
    }
    if (entry.type === 'event') {
      const state = String((entry.body as { readonly to?: string }).to);
      record.states.delete(state);
      record.states.add(state);
    }
    if (entry.type.startsWith('approval.')) record.approvals.push(entry);
    if (NOISE.has(entry.type)) return;
    record.log.push({ at: formatTime(entry.at).slice(11), ...sentenceOf(entry) });
    // Trimmed now and then, so that an entry costs the same however long the run is.
    if (record.log.length > 2 * LOG_LINES) record.log.splice(0, LOG_LINES);
  },
);

interface Draft {
  started: Entry | undefined;
  promised: RunRecord['promised'];
  readonly states: Set<string>;
  readonly log: LogLine[];
  readonly approvals: Entry[];
}
