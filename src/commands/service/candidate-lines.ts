import { adoptions } from '../../../machines/parts/doubt-question.ts';
import type { Failure } from '../../base/failure.ts';
import { readable } from '../../base/format.ts';

/**
 * What a call in doubt may have become: a line for each task that the service showed, the surest first, in
 * the words of a run's question.
 */
export function candidateLines(unclear: Failure | undefined, what = 'task'): readonly string[] {
  return adoptions(unclear, what).map(({ label, hint }) =>
    readable(`${label.replace(/^adopt /u, '')}: ${hint}`),
  );
}
