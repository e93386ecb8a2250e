import { counted, formatTime } from '../base/format.ts';
import { show } from '../base/text.ts';

/*
 * What an audit found and what it comes to. The verifier of a store and that of a bundle speak the same
 * words.
 */

/** One thing an audit found, as data. The message is printable: one line, lower case, no stop. */
export interface Finding {
  /**
   * A `problem` is evidence of damage or tampering; a `limit` is a proof that is missing, so that nothing
   * wrong was found and not everything is shown; a `note` changes no verdict.
   */
  readonly severity: 'problem' | 'limit' | 'note';
  readonly stream?: string;
  readonly seq?: number;
  readonly code: string;
  readonly shortMessage: string;
}

/** `intact`: shown, under a pinned key; `consistent`: nothing is wrong, limits say what is not shown. */
export type Verdict = 'intact' | 'consistent' | 'not-intact';

/** How a command ends that gives this verdict. */
export const VERDICT_EXIT = { intact: 0, 'not-intact': 1, consistent: 3 } as const satisfies Record<
  Verdict,
  number
>;

/** Up to where the record is pinned: a checkpoint that a believed key has signed, in the words of people. */
export interface Pin {
  /** The home, a folder, or the bundle itself. */
  readonly place: string;
  /** How many entries it covers. */
  readonly size: number;
  /** When the last of them was written, RFC 3339. */
  readonly at: string;
}

export function verdictOf(findings: readonly Pick<Finding, 'severity'>[]): Verdict {
  if (findings.some(({ severity }) => severity === 'problem')) return 'not-intact';
  return findings.some(({ severity }) => severity === 'limit') ? 'consistent' : 'intact';
}

/** More would hide the sentence. */
const MAX_NAMED = 5;

/** The verdict as one sentence without a stop. It never says more than was checked. */
export function verdictWords(findings: readonly Finding[], pins: readonly Pin[]): string {
  const verdict = verdictOf(findings);
  if (verdict === 'not-intact') return 'NOT INTACT: see the problems above';
  const reach = pins.map(
    ({ place, size, at }) => `${place} (${counted(size, 'entry', 'entries')}, ${formatTime(at)} UTC)`,
  );
  if (verdict === 'intact') return `intact, up to the newest checkpoint of each place: ${reach.join(', ')}`;
  const limits = findings
    .filter(({ severity }) => severity === 'limit')
    .map(({ shortMessage }) => shortMessage);
  const rest = limits.length > MAX_NAMED ? [`${limits.length - MAX_NAMED} more, listed above`] : [];
  return `consistent, but not all of it is pinned: ${[...limits.slice(0, MAX_NAMED), ...rest].join('; ')}`;
}

type Where = Pick<Finding, 'stream' | 'seq'>;

/** What the parts of an audit write to. */
export interface Findings {
  problem(code: string, shortMessage: string, where?: Where): void;
  limit(code: string, shortMessage: string, where?: Where): void;
  note(code: string, shortMessage: string, where?: Where): void;
  /** Problems first, then limits, each in the order in which they were found. */
  list(): readonly Finding[];
}

/** Findings beyond this number are only counted: a destroyed store must not fill the memory. */
const MAX_FINDINGS = 500;

/** An empty collection. It cleans what it is given: names and texts come from whoever made the record. */
export function createFindings(): Findings {
  const found: Record<Finding['severity'], Finding[]> = { problem: [], limit: [], note: [] };
  let more = 0;
  const add =
    (severity: Finding['severity']) =>
    (code: string, shortMessage: string, where: Where = {}) => {
      if (found[severity].length >= MAX_FINDINGS) {
        more += 1;
        return;
      }
      const stream = where.stream === undefined ? {} : { stream: show(where.stream, 120) };
      found[severity].push({ severity, ...where, ...stream, code, shortMessage: show(shortMessage) });
    };
  return {
    problem: add('problem'),
    limit: add('limit'),
    note: add('note'),
    list() {
      const all = [...found.problem, ...found.limit, ...found.note];
      if (more === 0) return all;
      return [
        ...all,
        { severity: 'note', code: 'audit.more', shortMessage: `${more} more findings are not listed` },
      ];
    },
  };
}
