import { auditOf } from './audited.ts';
import { isRepeatable, type Ledger, ledgerOf } from './ledger.ts';
import type { Stage } from './stage.ts';

/** What must be the same however often a process was killed. */
export interface Outcome {
  readonly code: number | null;
  readonly ledger: Ledger;
}

export interface Verdict {
  /** Changes that were carried out more often than in the undisturbed run, and make a difference. */
  readonly doubles: number;
  /** The same for those that make none. */
  readonly repeats: number;
  readonly lostKeys: number;
  /** Follow-ups, open or closed, of the undisturbed run that are not on record in this one. */
  readonly lostFollowUps: number;
  /** Every promise that was broken, in words. Empty: the trial went well. */
  readonly problems: readonly string[];
}

/**
 * Compares what there is now with an undisturbed run of the same scene. `isLate`: a request arrived after its
 * sender had died.
 */
export async function judge(
  stage: Stage,
  isLate: boolean,
  code: number | null,
  words: string,
  wanted: Outcome,
): Promise<Verdict> {
  const ledger = await ledgerOf(stage);
  const audit = await auditOf(stage.bench.env);
  const left = (await stage.scene.errand?.check?.(stage)) ?? [];
  const names = [...new Set([...ledger.done.keys(), ...wanted.ledger.done.keys()])];
  const more = names.map((name) => ({ name, by: countIn(ledger, name) - countIn(wanted.ledger, name) }));
  const doubled = more.filter(({ name, by }) => by > 0 && !isRepeatable(name, isLate));
  const undone = more.filter(({ by }) => by < 0);
  const lost = missing(wanted.ledger.followUps, ledger.followUps);
  const invented = missing(ledger.followUps, wanted.ledger.followUps);
  const promises: readonly (readonly [boolean, string])[] = [
    [code === wanted.code, `it ended with ${code} instead of ${wanted.code}: ${tail(words)}`],
    [doubled.length === 0, `done twice: ${listOf(doubled)}`],
    [undone.length === 0, `never done: ${listOf(undone)}`],
    [
      ledger.keysGiven <= wanted.ledger.keysGiven || stage.scene.errand?.givesKeys === true,
      `the service was given ${ledger.keysGiven} keys`,
    ],
    [ledger.lostKeys === 0, `${ledger.lostKeys} keys of the service are not in the vault`],
    [lost.length === 0, `no longer on record: ${lost.join('; ')}`],
    [invented.length === 0, `on record besides: ${invented.join('; ')}`],
    [
      isSameEnd(ledger, wanted.ledger),
      `the run stands at ${ledger.state} (${ledger.closed}) instead of ${wanted.ledger.state}`,
    ],
    [
      ledger.apps.join('\n') === wanted.ledger.apps.join('\n'),
      `the applications are bound otherwise: ${ledger.apps.join(' | ')}`,
    ],
    [ledger.reused === 0, `${ledger.reused} approvals were used again`],
    [
      ledger.reportedDone === wanted.ledger.reportedDone,
      `a follow-up was reported done ${ledger.reportedDone} times`,
    ],
    [left.length === 0, left.join('; ')],
    [
      audit.verdict !== 'not-intact',
      `the audit finds: ${audit.findings.map(({ shortMessage }) => shortMessage).join('; ')}`,
    ],
  ];
  return {
    doubles: sum(doubled),
    repeats: sum(more.filter(({ name, by }) => by > 0 && isRepeatable(name, isLate))),
    lostKeys: ledger.lostKeys,
    lostFollowUps: lost.length,
    problems: promises.filter(([kept]) => !kept).map(([, said]) => said),
  };
}

/** What rests on a person's word is done, and not proven. */
function isSameEnd({ state, closed, isSaid }: Ledger, wanted: Ledger): boolean {
  return (state === wanted.state && closed === wanted.closed) || (isSaid && closed === 'unproven');
}

function countIn({ done }: Ledger, name: string): number {
  return done.get(name) ?? 0;
}

/** What is in one list and not, or less often, in the other. */
function missing(wanted: readonly string[], there: readonly string[]): string[] {
  const left = [...there];
  return wanted.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function listOf(some: readonly { readonly name: string; readonly by: number }[]): string {
  return some.map(({ name, by }) => `${name} (${by > 0 ? '+' : ''}${by})`).join(', ');
}

function sum(some: readonly { readonly by: number }[]): number {
  return some.reduce((total, { by }) => total + by, 0);
}

function tail(words: string): string {
  return words.split('\n').slice(-8).join(' | ');
}
