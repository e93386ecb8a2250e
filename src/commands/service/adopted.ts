import type { CallEnd } from '../../runner/call.ts';
import type { Json } from '../../store/journal.ts';
import { candidateLines } from './candidate-lines.ts';

/** How sure it is that what the service shows is what was asked for, in words. */
const GRADES: Readonly<Record<string, string>> = {
  certain: 'certainly ours',
  likely: 'likely ours',
  possible: 'possibly ours',
  unlikely: 'unlikely to be ours',
};

/**
 * One line about a call whose answer was lost and which the service shows to be done: what was taken for it,
 * and how sure that is. Undefined for a call that was answered. Its texts come from the service and still
 * have to be cleaned.
 */
export function adoptedLine({ performed, lost, evidence }: CallEnd, what: string): string | undefined {
  if (performed.how !== 'done') return undefined;
  const output = performed.output as Readonly<Record<string, Json>> | null | undefined;
  if (output?.['adopted'] !== true && output?.['answer'] !== 'adopted') return undefined;
  const why = lost === undefined ? 'the answer was not recorded' : lost.shortMessage;
  return `adopted: ${why}, and ${seen(evidence, what)}`;
}

function seen(evidence: Json | undefined, what: string): string {
  const { candidate, certainty, signs } = (evidence ?? {}) as Readonly<Record<string, Json>>;
  if (candidate !== undefined) {
    const failure = { code: '', shortMessage: '', hints: [], evidence: { candidates: [candidate] } };
    const [line] = candidateLines(failure as never, what);
    if (line !== undefined) return `the service shows ${line}`;
  }
  const grade = GRADES[String(certainty)];
  const shown = Array.isArray(signs) && signs.length > 0 ? `: ${signs.join('; ')}` : '';
  return `the service shows that it was done${grade === undefined ? '' : ` (${grade})`}${shown}`;
}
