import { isoOf } from '../base/date.ts';
import { msOf } from '../base/instant.ts';
import type { Entry } from '../store/journal.ts';
import { EVALUATED, evaluationIn } from '../store/projections/evaluations.ts';
import { currentKey, foldEpochs, readKeyFact } from '../store/projections/key-epochs.ts';
import { foldLedger } from '../store/projections/ledgers.ts';
import type { EvidenceSubject, RecordedEvaluation, RecordedFinding } from './evidence-schema.ts';
import type { Span } from './period.ts';

/** What the ledger of an instance or a plan shows of a period. Times of duties in milliseconds since 1970. */
export interface LedgerFacts {
  readonly standing: Pick<EvidenceSubject, 'evaluated' | 'proven' | 'key'>;
  readonly evaluations: readonly RecordedEvaluation[];
  readonly findings: readonly RecordedFinding[];
  readonly evaluatedAt: readonly number[];
  readonly provenAt: readonly number[];
  readonly keySetAt: readonly number[];
}

/** `cryptoperiod` in milliseconds: how long a key may be in force. Pure. */
export function ledgerFacts(
  subject: string,
  entries: readonly Entry[],
  span: Span,
  cryptoperiod?: number | undefined,
): LedgerFacts {
  const all = entries.flatMap(({ at, type, body }) => {
    const made = type === EVALUATED ? evaluationIn(body) : undefined;
    return made === undefined ? [] : [{ at, ...made }];
  });
  const isBefore = ({ at }: { readonly at: string }, end: number) => msOf(at) < end;
  const last = all.findLast((one) => isBefore(one, span.until));
  const { epochs, proven } = foldLedger(entries.filter((entry) => isBefore(entry, span.until)));
  const [newest] = proven;
  const key = currentKey(epochs);
  return {
    standing: {
      ...(last && { evaluated: { at: last.at, verdict: last.verdict, reason: last.reason } }),
      ...(newest && { proven: { backup: newest.id, at: newest.provenAt } }),
      ...(key && {
        key: {
          fingerprint: key.fingerprint,
          ...(key.setAt === undefined ? {} : { since: key.setAt }),
          ...(key.setAt === undefined || cryptoperiod === undefined
            ? {}
            : { dueAt: isoOf(msOf(key.setAt) + cryptoperiod) }),
        },
      }),
    },
    evaluations: all
      .filter((one) => isBefore(one, span.until) && !isBefore(one, span.from))
      .map(({ at, verdict, reason, findings }) => {
        return { subject, at, verdict, reason, findings: findings.map(({ check }) => check) };
      }),
    findings: findingsIn(subject, all).filter(
      ({ firstSeen, closedAt }) => msOf(firstSeen) < span.until && !(msOf(closedAt) < span.from),
    ),
    evaluatedAt: all.map(({ at }) => msOf(at)),
    provenAt: entries.filter(isProof).map(({ at }) => msOf(at)),
    keySetAt: foldEpochs(entries)
      .filter(({ state }) => state !== 'refuted')
      .flatMap(({ setAt, earlier }) => [...earlier.map((one) => one.setAt), setAt])
      .flatMap((at) => (at === undefined ? [] : [msOf(at)])),
  };
}

type Made = NonNullable<ReturnType<typeof evaluationIn>> & { readonly at: string };

/** From its first sight to the evaluation without it, in its last wording. */
function findingsIn(subject: string, all: readonly Made[]): readonly RecordedFinding[] {
  const open = new Map<string, RecordedFinding>();
  const closed: RecordedFinding[] = [];
  for (const { at, findings } of all) {
    for (const [check, finding] of open)
      if (!findings.some((one) => one.check === check)) {
        closed.push({ ...finding, closedAt: at });
        open.delete(check);
      }
    for (const finding of findings) open.set(finding.check, { ...finding, subject });
  }
  return [...closed, ...open.values()];
}

/** A backup of which only the first block was tried is not proven. */
function isProof(entry: Entry): boolean {
  const fact = readKeyFact(entry);
  return fact?.type === 'key.proven' && fact.body.verdict !== 'fits';
}
