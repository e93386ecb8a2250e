import { counted, formatTime } from '../base/format.ts';
import { show } from '../base/text.ts';

/* The findings and the verdict of an audit, shared by the verifiers of a store and of a bundle. */

/** One finding of an audit, as data. The message is printable: one line, lower case, no full stop. */
export interface Finding {
  /** `problem`: damage or tampering; `limit`: only a proof is missing; `note`: changes no verdict. */
  readonly severity: 'problem' | 'limit' | 'note';
  readonly stream?: string;
  readonly seq?: number;
  readonly code: string;
  readonly shortMessage: string;
}

/** `intact`: proven under a pinned key; `consistent`: nothing is wrong, limits say what is not proven. */
export type Verdict = 'intact' | 'consistent' | 'not-intact';

export const VERDICT_EXIT = { intact: 0, 'not-intact': 1, consistent: 3 } as const satisfies Record<
  Verdict,
  number
>;

/** How far the record is pinned: a checkpoint that a trusted key signed, in words for people. */
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

/** So many limits or notes of one kind are told each. */
const MAX_ALIKE = 3;

/** One finding, and how many more there are of its kind. */
export interface Told {
  readonly finding: Finding;
  readonly more: number;
}

/**
 * For people: each problem, but of many limits or notes of one kind the first alone. In a team, the
 * transcripts of ten thousand runs may be on other machines; another limit has to be seen beside them. Pure.
 */
export function toldFindings(findings: readonly Finding[]): readonly Told[] {
  const kinds = Map.groupBy(findings, ({ severity, code }) => `${severity} ${code}`);
  return findings.flatMap((finding) => {
    const alike = kinds.get(`${finding.severity} ${finding.code}`) ?? [];
    if (finding.severity === 'problem' || alike.length <= MAX_ALIKE) return { finding, more: 0 };
    return finding === alike[0] ? { finding, more: alike.length - 1 } : [];
  });
}

export function toldWords({ finding: { shortMessage }, more }: Told): string {
  return more === 0 ? shortMessage : `${shortMessage}, and ${more} more of this kind`;
}

/** More would bury the sentence. */
const MAX_NAMED = 5;

/** The verdict as one sentence without a full stop. It never claims more than was checked. */
export function verdictWords(findings: readonly Finding[], pins: readonly Pin[]): string {
  const verdict = verdictOf(findings);
  if (verdict === 'not-intact') return 'NOT INTACT: see the problems above';
  const reach = pins.map(
    ({ place, size, at }) => `${place} (${counted(size, 'entry', 'entries')}, ${formatTime(at)} UTC)`,
  );
  if (verdict === 'intact') return `intact, up to the newest checkpoint of each place: ${reach.join(', ')}`;
  const limits = toldFindings(findings.filter(({ severity }) => severity === 'limit')).map(toldWords);
  const rest = limits.length > MAX_NAMED ? [`${limits.length - MAX_NAMED} more, listed above`] : [];
  return `consistent, but not all of it is pinned: ${[...limits.slice(0, MAX_NAMED), ...rest].join('; ')}`;
}

type Where = Pick<Finding, 'stream' | 'seq'>;

export interface Findings {
  problem(code: string, shortMessage: string, where?: Where): void;
  limit(code: string, shortMessage: string, where?: Where): void;
  note(code: string, shortMessage: string, where?: Where): void;
  /** Problems first, then limits, each in order of discovery. */
  list(): readonly Finding[];
}

/** Findings of one kind beyond this number are only counted: a destroyed store must not fill the memory. */
const MAX_FINDINGS = 500;

/** An empty collection. It cleans its input: names and texts come from the maker of the record. */
export function createFindings(): Findings {
  const found: Record<Finding['severity'], Finding[]> = { problem: [], limit: [], note: [] };
  const counts = new Map<string, number>();
  let more = 0;
  const add =
    (severity: Finding['severity']) =>
    (code: string, shortMessage: string, where: Where = {}) => {
      const kind = `${severity} ${code}`;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count > MAX_FINDINGS) {
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
